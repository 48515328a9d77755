/**
 * `node bench/secrets.ts [--data DIR] [--write]`: measures how many ordinary texts are taken for credentials, and how long the check takes.
 *
 * None of these texts holds a credential, so each refusal is a false positive.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { kindOfSecret } from "../engine/facts/secrets.ts";
import { EARLIER, QUESTIONS, TOLD } from "../scripts/demo/story.ts";
import { showSection, writeSection } from "./bench-report.ts";
import { type Measured, quantile, table } from "./measured.ts";
import { conversationsOfFolder, readJsonLines } from "./recall/conversations.ts";
import { madeFact } from "./search/made-facts.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LOCOMO = join(ROOT, "..", "shared", "data", "locomo-dev");

interface TextSet {
  readonly name: string;
  readonly texts: readonly string[];
}

interface Line {
  readonly key?: string;
  readonly value?: string;
  readonly fact?: string;
  readonly question?: string;
}

function setsOfTexts(locomo: string): readonly TextSet[] {
  const lines = globSync("test/data/*.jsonl", { cwd: ROOT }).flatMap((file) =>
    readJsonLines<Line>(join(ROOT, file)),
  );
  const conversations = existsSync(locomo) ? conversationsOfFolder(locomo) : [];
  const made = Array.from({ length: 20_000 }, (_, number) => madeFact(number));
  const documents = globSync("docs/**/*.md", { cwd: ROOT }).map((file) =>
    readFileSync(join(ROOT, file), "utf8"),
  );
  return [
    { name: "facts and questions of test/data", texts: lines.flatMap(textsOf) },
    {
      name: "LoCoMo: lines of conversations",
      texts: conversations.flatMap(({ facts }) => facts).flatMap(textsOf),
    },
    {
      name: "LoCoMo: questions",
      texts: conversations.flatMap(({ questions }) => questions).flatMap(textsOf),
    },
    {
      name: "the demo",
      texts: [...textsOf(TOLD), ...EARLIER.trim().split("\n"), ...QUESTIONS.map(({ query }) => query)],
    },
    { name: "generated facts of the search benchmark", texts: made.flatMap(textsOf) },
    { name: "paragraphs of this documentation", texts: documents.flatMap((text) => text.split(/\n{2,}/)) },
  ].filter(({ texts }) => texts.length > 0);
}

/** The texts that a write is checked for: name and value together. */
function textsOf({ key, value, fact, question }: Line): readonly string[] {
  const written = value ?? fact;
  return [written === undefined ? undefined : `${key} = ${written}`, question].filter(
    (text) => text !== undefined,
  );
}

async function measure(sets: readonly TextSet[]): Promise<Measured> {
  const rows: string[][] = [];
  const kinds: string[] = [];
  for (const { name, texts } of sets) {
    const microseconds: number[] = [];
    const alarms: string[] = [];
    for (const text of texts) {
      const started = performance.now();
      const kind = await kindOfSecret(text);
      microseconds.push((performance.now() - started) * 1_000);
      if (kind !== undefined) alarms.push(kind);
    }
    kinds.push(...alarms);
    rows.push([name, `${texts.length}`, `${alarms.length}`, quantile(microseconds, 0.5).toFixed(0)]);
  }
  const head = ["texts", "number", "false alarms", "µs per text, median"];
  const told = kinds.length === 0 ? "" : `\n\nThe false alarms are: ${kinds.join(", ")}.`;
  const markdown = `Memory refuses texts that look like credentials, by secretlint's recommended rules and our own. None of these texts holds a credential, so each refusal is a false alarm.\n\n${table(head, rows)}${told}`;
  return { title: "Credentials: false alarms", command: "node bench/secrets.ts", markdown, json: rows };
}

const { values } = parseArgs({
  options: { data: { type: "string", default: LOCOMO }, write: { type: "boolean", default: false } },
});
const section = await measure(setsOfTexts(values.data));
showSection(section);
if (values.write) writeSection(section);
