/**
 * `npm run bench:host [-- --embedder URL] [--model M] [--write]`: the real gateway's own search of Markdown notes beside ours, the
 * same facts and questions, and what our hits cost it of its own notes.
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
import { linesOfHalf } from "../recall/natural.ts";
import { unrelatedFact } from "../recall/unrelated-facts.ts";
import { AskedHost, type Shown } from "./asked-host.ts";
import { type HostQuestion, heldOutQuestions, mixedQuestions } from "./host-questions.ts";

interface Asked extends HostQuestion, Shown {}

/** The plugin's tarball, and who embeds: for the host, and for us. */
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

/** Starts a gateway over the notes, asks, adds the plugin with the facts, and asks again. */
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
  const own = linesOfHalf("held-out");
  const facts = [
    ...own,
    ...Array.from({ length: size - own.length }, (_none, number) => unrelatedFact(number)),
  ];
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
    markdown: [
      `The real gateway with its own memory-core, one Markdown note for each fact, asked by \`memory_search\`; then the same facts in helmdeck's memory, asked by the same tool with \`corpus: "wiki"\`. The questions are the held-out half of \`test/data/natural-*.jsonl\`; shown: the fact is among the first three hits. By \`npm run bench:host\`.`,
      table(
        ["facts", "search", "own", "part", "paraphrase", "all", "hits for a question that nothing answers"],
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
  return `${without.length} mixed questions, half answered by a note of the host's own, half by a fact of ours, asked with and without our plugin, no corpus named: of ${before} notes that are shown without it, ${lost} are not shown with it. Where we show possible hits (${tokens.length} questions), they are ${Math.round(mean(sizes))} tokens of JSON in the mean and ${Math.round(Math.max(...sizes))} at most, at four characters each.`;
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
    ["", "without our plugin", "with it"],
    [
      row("questions that a note answers: it is first", (asked) => right(half(asked, true), 1)),
      row("… is shown", (asked) => right(half(asked, true), whole)),
      row("questions that a fact of ours answers: it is shown", (asked) => right(half(asked, false), whole)),
      row("notes shown for a question, mean", (asked) => perQuestion(asked, NOTES)),
      row("hits of ours, mean", (asked) => perQuestion(asked, OURS)),
    ],
  );
}

function perQuestion(asked: readonly Asked[], corpus: string): string {
  return mean(asked.map(({ hits }) => hits.filter((hit) => hit.corpus === corpus).length)).toFixed(2);
}

function notesOf(asked: Asked | undefined) {
  return asked?.hits.filter(({ corpus }) => corpus === NOTES) ?? [];
}

/** As the installer points both searches at one service. */
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
    },
  });
  const folder = mkdtempSync(join(tmpdir(), "helmdeck-bench-host-"));
  try {
    const setting = settingOf(await packPlugin(folder), values.embedder, values.model);
    const sizes: SizeFigures[] = [];
    for (const size of SIZES) sizes.push(await measureSize(setting, size));
    const cost = await measureCost(setting);
    const section = hostSection(
      sizes,
      cost,
      values.embedder === undefined ? "by words" : `by ${values.model}`,
    );
    showSection(section);
    console.log(`\nRaw answers: ${keepRaw("host", [section])}`);
    if (values.write) writeSection(section);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
