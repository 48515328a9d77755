/**
 * `node scripts/make-confusables.ts CONFUSABLES.TXT`: generates engine/facts/confusables.json from the Unicode Consortium's
 * https://www.unicode.org/Public/security/latest/confusables.txt, and prints what engine/facts/key-looks.ts says of it.
 */
import { readFileSync, writeFileSync } from "node:fs";

const TARGET = new URL("../engine/facts/confusables.json", import.meta.url);
const LINE = /^([0-9A-F]+) ;\t([0-9A-F ]+) ;\tMA/;

const source = readFileSync(process.argv[2] ?? "confusables.txt", "utf8");
const version = /^# Version: (.+)$/m.exec(source)?.[1];
const year = /^# © (\d{4}) Unicode/m.exec(source)?.[1];
const total = Number(/^# total: (\d+)$/m.exec(source)?.[1]);

const pairs = source.split("\n").flatMap((line) => {
  const [, from, to] = LINE.exec(line) ?? [];
  return from === undefined || to === undefined ? [] : [{ from, to }];
});
if (version === undefined || year === undefined || pairs.length !== total)
  throw new Error(
    `This is not a complete confusables.txt: ${pairs.length} of ${total} lines could be parsed.`,
  );

const groups = Map.groupBy(pairs, ({ to }) => to);
const lines = [...groups].map(([to, group]) => `${to}:${group.map(({ from }) => from).join(" ")}`);
writeFileSync(TARGET, `${JSON.stringify(lines, null, 2)}\n`);
console.log(`Unicode ${version}, ${total} characters, © ${year}`);
