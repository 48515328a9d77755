/**
 * `npm run bench:host [-- --embedder URL] [--model M] [--write]`: compares the real gateway's own search of Markdown notes with our search
 * of the same facts, and measures how many of the host's own notes our hits displace.
 *
 * `npm run bench:host -- --notes [--write]` compares what may embed OpenClaw's notes instead.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { JsonObject } from "../../scripts/openclaw-host/openclaw-host.ts";
import { packPlugin } from "../../scripts/pack-plugin.ts";
import { keepRaw, showSection, writeSection } from "../bench-report.ts";
import { type Measured, mean, table } from "../measured.ts";
import type { FactLine } from "../recall/conversations.ts";
import { AskedHost, type Shown } from "./asked-host.ts";
import { factsOfSize, type HostQuestion, heldOutQuestions, mixedQuestions } from "./host-questions.ts";
import { notesSection } from "./notes-providers.ts";

interface Asked extends HostQuestion, Shown {}

/** The plugin's tarball, and the embedding settings of the host and of our plugin. */
interface Setting {
  readonly tarball: string;
  readonly config: JsonObject;
  readonly settings: JsonObject;
}

interface SizeFigures {
  readonly facts: number;
  readonly notes: readonly Asked[];
  readonly ours: readonly Asked[];
}

interface CostFigures {
  readonly without: readonly Asked[];
  readonly with: readonly Asked[];
}

const SIZES = [20, 200];
const FIRST = 3;
const NOTES = "memory";
const OURS = "helmdeck";

async function askAll(
  host: AskedHost,
  questions: readonly HostQuestion[],
  corpus?: "wiki",
): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const question of questions)
    asked.push({ ...question, ...(await host.ask(question.question, corpus)) });
  return asked;
}

/** Starts a gateway with the notes, asks the questions, adds the plugin with the facts, and asks again. */
async function twice<T>(
  { tarball, config, settings }: Setting,
  [notes, facts]: readonly [readonly FactLine[], readonly FactLine[]],
  ask: (host: AskedHost, hasPlugin: boolean) => Promise<T>,
): Promise<readonly [T, T]> {
  const host = await AskedHost.start(notes, config);
  try {
    const without = await ask(host, false);
    await host.addPlugin(tarball, facts, settings);
    return [without, await ask(host, true)];
  } finally {
    await host.stop();
  }
}

async function measureSize(setting: Setting, size: number): Promise<SizeFigures> {
  const facts = factsOfSize(size);
  const [notes, ours] = await twice(setting, [facts, facts], (host, hasPlugin) =>
    askAll(host, heldOutQuestions(), hasPlugin ? "wiki" : undefined),
  );
  return { facts: size, notes, ours };
}

async function measureCost(setting: Setting): Promise<CostFigures> {
  const { notes, facts, aboutNotes, aboutFacts } = mixedQuestions();
  const questions = [...aboutNotes, ...aboutFacts];
  const [without, withPlugin] = await twice(setting, [notes, facts], (host) => askAll(host, questions));
  return { without, with: withPlugin };
}

function hostSection(sizes: readonly SizeFigures[], cost: CostFigures, embeddedBy: string): Measured {
  return {
    title: `Beside OpenClaw's own notes, ${embeddedBy}`,
    command: "npm run bench:host",
    markdown: [
      "The same facts, once as OpenClaw's own Markdown notes and once in helmdeck's memory. Both are asked through `memory_search` in the real gateway (helmdeck with `corpus: \"wiki\"`). The questions are the held-out half of the everyday questions. A figure counts the questions whose fact is among the first three hits.",
      table(
        ["facts", "search", "own", "part", "paraphrase", "all", "hits per unanswerable question"],
        sizes.flatMap(({ facts, notes, ours }) => [
          sizeRow(facts, "OpenClaw's notes", notes),
          sizeRow(facts, "**helmdeck**", ours),
        ]),
      ),
      costText(cost),
      costTable(cost),
    ].join("\n\n"),
    json: { sizes, cost },
  };
}

function sizeRow(facts: number, name: string, asked: readonly Asked[]): readonly string[] {
  const answerable = asked.filter(({ wanted }) => wanted !== undefined);
  const ofKind = (kind: HostQuestion["kind"]) => answerable.filter((one) => one.kind === kind);
  const hits = mean(asked.filter(({ wanted }) => wanted === undefined).map((one) => one.hits.length));
  return [
    String(facts),
    name,
    ...[ofKind("own"), ofKind("part"), ofKind("paraphrase"), answerable].map(shareShown),
    hits.toFixed(2),
  ];
}

function shareShown(asked: readonly Asked[]): string {
  const shown = asked.filter(({ hits, wanted }) => hits.slice(0, FIRST).some(({ key }) => key === wanted));
  return `${shown.length} of ${asked.length}`;
}

function costText({ without, with: withPlugin }: CostFigures): string {
  const before = without.flatMap(({ hits }) => hits).length;
  const lost = without.flatMap(({ hits }, place) => {
    const kept = new Set(notesOf(withPlugin[place]).map(({ key }) => key));
    return hits.filter(({ key }) => !kept.has(key));
  }).length;
  const tokens = withPlugin.filter(({ possibleCharacters }) => possibleCharacters > 0);
  const sizes = tokens.map(({ possibleCharacters }) => possibleCharacters / 4);
  return `The plugin must not hide OpenClaw's notes. ${without.length} mixed questions, half answered by a note and half by a fact, were asked with and without the plugin. Of ${before} notes that were shown without it, ${lost} were missing with it. Possible hits came with ${tokens.length} questions, and took ${Math.round(mean(sizes))} tokens of JSON on average, ${Math.round(Math.max(...sizes))} at most, at four characters per token.`;
}

function costTable({ without, with: withPlugin }: CostFigures): string {
  const row = (name: string, of: (asked: readonly Asked[]) => string) => [name, of(without), of(withPlugin)];
  const half = (asked: readonly Asked[], isAboutNotes: boolean) => {
    const place = asked.length / 2;
    return isAboutNotes ? asked.slice(0, place) : asked.slice(place);
  };
  const right = (asked: readonly Asked[], depth: number) => {
    const found = asked.filter(({ hits, wanted }) => hits.slice(0, depth).some(({ key }) => key === wanted));
    return `${found.length} of ${asked.length}`;
  };
  const whole = Number.POSITIVE_INFINITY;
  return table(
    ["", "without the plugin", "with it"],
    [
      row("questions that a note answers: the note is first", (asked) => right(half(asked, true), 1)),
      row("… the note is shown", (asked) => right(half(asked, true), whole)),
      row("questions that a fact answers: the fact is shown", (asked) => right(half(asked, false), whole)),
      row("notes per question", (asked) => perQuestion(asked, NOTES)),
      row("helmdeck's hits per question", (asked) => perQuestion(asked, OURS)),
    ],
  );
}

function perQuestion(asked: readonly Asked[], corpus: string): string {
  return mean(asked.map(({ hits }) => hits.filter((hit) => hit.corpus === corpus).length)).toFixed(2);
}

function notesOf(asked: Asked | undefined) {
  return asked?.hits.filter(({ corpus }) => corpus === NOTES) ?? [];
}

/** Points both searches at one service, as the installer does. */
function settingOf(tarball: string, url: string | undefined, model: string): Setting {
  if (url === undefined) return { tarball, config: {}, settings: {} };
  return {
    tarball,
    config: {
      memory: { search: { provider: "ollama", model, remote: { baseUrl: url } } },
      plugins: { allow: ["memory-core", "ollama"] },
    },
    settings: { embeddings: { provider: "ollama", url, model } },
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      embedder: { type: "string" },
      model: { type: "string", default: "all-minilm:l6-v2" },
      write: { type: "boolean", default: false },
      notes: { type: "boolean", default: false },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), "helmdeck-bench-host-"));
  const report = (section: Measured) => {
    showSection(section);
    console.log(`\nRaw answers: ${keepRaw("host", [section])}`);
    if (values.write) writeSection(section);
  };
  try {
    if (values.notes) return report(await notesSection(folder, SIZES));
    const setting = settingOf(await packPlugin(folder), values.embedder, values.model);
    const sizes: SizeFigures[] = [];
    for (const size of SIZES) sizes.push(await measureSize(setting, size));
    const cost = await measureCost(setting);
    report(
      hostSection(
        sizes,
        cost,
        values.embedder === undefined ? "keyword search" : `semantic search with ${values.model}`,
      ),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
