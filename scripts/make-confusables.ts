/**
 * `node scripts/make-confusables.ts CONFUSABLES.TXT`: makes engine/facts/confusables-data.ts of the Unicode Consortium's
 * https://www.unicode.org/Public/security/latest/confusables.txt.
 */
import { readFileSync, writeFileSync } from "node:fs";

const TARGET = new URL("../engine/facts/confusables-data.ts", import.meta.url);
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
  throw new Error(`This is not a whole confusables.txt: ${pairs.length} of ${total} lines understood.`);

const groups = Map.groupBy(pairs, ({ to }) => to);
const lines = [...groups].map(([to, group]) => `${to}:${group.map(({ from }) => from).join(" ")}`);
writeFileSync(
  TARGET,
  `/**
 * Which characters look like which: confusables.txt of UTS #39, Unicode ${version}, ${total} characters. Made by
 * scripts/make-confusables.ts; not to be edited.
 *
 * @license Data © ${year} Unicode, Inc., under the Unicode License v3 (https://www.unicode.org/license.txt).
 *
 * A line holds the code points that stand for a look, and those that have it: "0061:FF41 1D41A".
 */
export const CONFUSABLES = \`\\
${lines.join("\n")}
\`;
`,
);
