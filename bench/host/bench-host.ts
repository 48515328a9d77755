/**
 * `npm run bench:host -- --help`: measures how many of the host's own notes our hits displace, in the
 * real gateway. `npm run bench:peers` compares its search of notes with ours.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../scripts/openclaw-host/openclaw-host.ts";
import { packPlugin } from "../../scripts/pack.ts";
import { requireUrl, runBench, WRITE } from "../bench-options.ts";
import { keepRaw, showSection, writeSection } from "../bench-report.ts";
import { type Measured, mean, table } from "../measured.ts";
import type { FactLine } from "../recall/conversations.ts";
import { AskedHost, type Shown } from "./asked-host.ts";
import { crowdedQuestions, type HostQuestion, mixedQuestions } from "./host-questions.ts";

interface Asked extends HostQuestion, Shown {}

/** The plugin's tarball, and the embedding settings of the host and of our plugin. */
interface Setting {
  readonly tarball: string;
  readonly config: JsonObject;
  readonly settings: JsonObject;
}

interface CostFigures {
  readonly without: readonly Asked[];
  readonly with: readonly Asked[];
}

const NOTES = "memory";
const OURS = "helmdeck";

async function askAll(
  host: AskedHost,
  questions: readonly HostQuestion[],
  limit?: number,
): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const question of questions)
    asked.push({ ...question, ...(await host.ask(question.question, undefined, limit)) });
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

async function measureCost(setting: Setting): Promise<CostFigures> {
  const { notes, facts, aboutNotes, aboutFacts } = mixedQuestions();
  const questions = [...aboutNotes, ...aboutFacts];
  const [without, withPlugin] = await twice(setting, [notes, facts], (host) => askAll(host, questions));
  return { without, with: withPlugin };
}

function hostSection(cost: CostFigures, crowded: readonly CrowdedFigures[], embeddedBy: string): Measured {
  return {
    title: `Beside OpenClaw's own notes, ${embeddedBy}`,
    command: "npm run bench:host",
    markdown: [costText(cost), costTable(cost), CROWDED_TEXT, crowdedTable(crowded)].join("\n\n"),
    json: { cost, crowded },
  };
}

/** What a call may ask for, if it names a number. */
const LIMITS = [3, 4, 6, 10] as const;

interface CrowdedFigures extends CostFigures {
  readonly limit: number;
}

/** In a gateway of its own: all of these notes have words of the questions. */
async function measureCrowded(setting: Setting): Promise<readonly CrowdedFigures[]> {
  const { notes, facts, questions } = crowdedQuestions();
  const [without, withPlugin] = await twice(setting, [notes, facts], async (host) => {
    const byLimit: (readonly Asked[])[] = [];
    for (const limit of LIMITS) byLimit.push(await askAll(host, questions, limit));
    return byLimit;
  });
  return LIMITS.map((limit, at) => ({ limit, without: without[at] ?? [], with: withPlugin[at] ?? [] }));
}

const CROWDED_TEXT =
  "Eight questions, each with fourteen notes that have its word, one of which answers, and a fact of ours that has it too, asked with a number of results.";

function crowdedTable(crowded: readonly CrowdedFigures[]): string {
  const isShown = ({ hits, wanted }: Asked) => hits.some(({ key }) => key === wanted);
  return table(
    [
      "results asked for",
      "right note shown without the plugin",
      "with it",
      "right notes lost",
      "notes without",
      "notes with",
      "helmdeck's hits",
    ],
    crowded.map(({ limit, without, with: withPlugin }) => [
      `${limit}`,
      `${without.filter(isShown).length} of ${without.length}`,
      `${withPlugin.filter(isShown).length} of ${withPlugin.length}`,
      `${without.filter((one, at) => isShown(one) && !withPlugin.slice(at, at + 1).some(isShown)).length}`,
      perQuestion(without, NOTES),
      perQuestion(withPlugin, NOTES),
      perQuestion(withPlugin, OURS),
    ]),
  );
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

const BENCH = {
  script: "bench:host",
  about: "Measures how many of OpenClaw's own notes the plugin's hits displace, in the real gateway.",
  options: {
    embedder: {
      type: "string",
      value: "URL",
      about: "of an Ollama server, for both; otherwise keyword search",
    },
    model: { type: "string", value: "NAME", default: "all-minilm:l6-v2", about: "on that server" },
    write: WRITE,
  },
} as const;

async function main(url: string | undefined, model: string, writes: boolean): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "helmdeck-bench-host-"));
  try {
    const setting = settingOf(await packPlugin(folder), url, model);
    const crowded = await measureCrowded(setting);
    console.log(crowdedTable(crowded));
    const cost = await measureCost(setting);
    const by = url === undefined ? "keyword search" : `semantic search with ${model}`;
    const section = hostSection(cost, crowded, by);
    showSection(section);
    console.log(`\nRaw answers: ${keepRaw("host", [section])}`);
    if (writes) writeSection(section);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main)
  await runBench(BENCH, async ({ embedder, model, write = false }) => {
    if (embedder !== undefined) requireUrl("--embedder", embedder);
    await main(embedder, model, write);
  });
