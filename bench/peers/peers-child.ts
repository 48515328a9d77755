/**
 * One group of measures of one system, in a process of its own, so that a crash or a hang ends nothing else. Writes raw lines into FILE,
 * the last one with the outcome.
 *
 *   node bench/peers/peers-child.ts OPTIONS_AS_JSON
 */
import { appendFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { lineOf } from "../recall/paraphrases.ts";
import { type Embedder, startEmbedder } from "./embedder.ts";
import { measureCare } from "./measures/care.ts";
import { measureCosts } from "./measures/costs.ts";
import { measurePrompt } from "./measures/prompt.ts";
import { measureProvider } from "./measures/provider.ts";
import { measureRecall } from "./measures/recall.ts";
import { ask, isPassedOn, keysShown, type WriteLine, waysOf } from "./measures/record.ts";
import { type QuestionSet, questionSets, type SetOptions } from "./sets.ts";
import type { Group, Memory, Running, System } from "./system.ts";

export interface ChildOptions extends SetOptions {
  readonly system: string;
  readonly group: Group;
  readonly file: string;
  /** A module that exports `SYSTEMS`, instead of ours. For tests. */
  readonly systems?: string;
}

interface Measuring {
  readonly running: Running;
  readonly embedder: Embedder;
  readonly sets: Readonly<Record<string, QuestionSet>>;
  readonly isQuick: boolean;
  readonly record: WriteLine;
}

const GROUP_WORK: Readonly<Record<Group, (work: Measuring) => Promise<void>>> = {
  recall: ({ running, sets, record }) => measureRecall(running, sets, record),
  costs: ({ running, isQuick, sets: { everyday }, record }) =>
    measureCosts(running, {
      rounds: isQuick ? 1 : 3,
      questions: everyday?.questions ?? [],
      agent: "everyday",
      record,
    }),
  care: ({ running, record }) => measureCare(running, record),
  prompt: ({ running, isQuick, record }) => measurePrompt(running, isQuick ? 4 : 10, record),
  provider: ({ running, embedder, sets: { everyday }, record }) =>
    everyday === undefined
      ? Promise.resolve()
      : measureProvider(running, embedder, { set: everyday, agent: "everyday", record }),
};

/** The sets that a group's memory holds, each an agent's. */
function memoryFor(group: Group, sets: Measuring["sets"]): Memory {
  const wanted: Readonly<Record<Group, readonly string[]>> = {
    recall: Object.keys(sets),
    provider: ["everyday"],
    costs: ["everyday"],
    care: [],
    prompt: [],
  };
  const filled = wanted[group].map((name) => [name, sets[name]?.facts ?? []] as const);
  const other = group === "care" ? { other: [] } : {};
  return { main: [], ...other, ...Object.fromEntries(filled) };
}

/** The control: found after it was stored, and not before. Throws with what is wrong. */
async function admit(running: Running): Promise<void> {
  const fact = lineOf(
    { key: "control/lighthouse", fact: "The lighthouse keeper polishes the lamp with vinegar." },
    0,
  );
  const question = "lighthouse keeper polishes lamp vinegar";
  const isFound = async () => {
    const found: boolean[] = [];
    for (const [, how] of waysOf(running))
      found.push(keysShown((await ask(how, "main", question)).answer, [fact]).length > 0);
    return found;
  };
  const before = await isFound();
  await running.store("main", fact);
  await running.ready("main");
  const after = await isFound();
  if (before.includes(true) || after.includes(false))
    throw new Error(`The control was found before: ${before.join()}, and after: ${after.join()}.`);
  if (running.throughAgent !== undefined) {
    const answer = await running.throughAgent("main", question);
    if (!isPassedOn(answer, fact))
      throw new Error(`The gateway's agent did not get the control: ${answer.text.slice(-1_000)}`);
  }
  await running.forget("main", fact);
}

async function work(system: System, options: ChildOptions, record: WriteLine): Promise<string> {
  const sets = questionSets(options);
  const embedder = await startEmbedder();
  let running: Running | undefined;
  try {
    try {
      running = await system.start({ memory: memoryFor(options.group, sets), embedder });
      await admit(running);
    } catch (error) {
      const log = (await running?.host?.logTail().catch(() => "")) ?? "";
      record({ measure: "end", outcome: "not admitted", log: `${toText(error)}\n${log}`.slice(-4_000) });
      return "not admitted";
    }
    await GROUP_WORK[options.group]({ running, embedder, sets, isQuick: options.isQuick, record });
    record({ measure: "end", outcome: "done" });
    return "done";
  } finally {
    await running?.stop();
    embedder.close();
  }
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const options = JSON.parse(process.argv[2] ?? "{}") as ChildOptions; // written by bench-peers.ts
const path = options.systems ?? new URL("systems/systems.ts", import.meta.url).pathname;
const { SYSTEMS } = (await import(pathToFileURL(path).href)) as { SYSTEMS: readonly System[] };
const system = SYSTEMS.find(({ id }) => id === options.system);
if (system === undefined) throw new Error(`No system ${options.system}`);
const record: WriteLine = (line) =>
  appendFileSync(
    options.file,
    `${JSON.stringify({ system: options.system, group: options.group, ...line })}\n`,
  );
await work(system, options, record);
process.exit(0);
