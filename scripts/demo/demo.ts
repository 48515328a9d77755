/**
 * The demo: `npm run demo` shows OpenClaw's own memory_search finding what helmdeck keeps.
 *
 * Everything is real: the gateway, the packed plugin installed as a user installs it, the tool and the command that store,
 * and the HTTP call that asks. All of it lives in one temporary folder, which is gone at the end, whatever happens.
 */
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DIST } from "../build/build.ts";
import { OpenClawHost } from "../openclaw-host/openclaw-host.ts";
import { packPlugin } from "../pack-plugin.ts";
import { type Answer, askMemorySearch } from "./asking.ts";
import { type DemoOptions, readOptions } from "./demo-options.ts";
import { Screen } from "./screen.ts";
import { historyLines, NOTES, QUESTIONS, TOLD } from "./story.ts";

/** What a question must find in memory_search's own reply for the demo to have worked. */
interface Question {
  readonly query: string;
  /** How the path of one hit begins. */
  readonly mustFind: string;
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if ("exitCode" in options) return options.exitCode;
  const screen = new Screen(options.json ? process.stderr : process.stdout);
  const host = await OpenClawHost.make({ notes: NOTES, onStep: (step) => screen.step(step) });
  let isKept = false;
  try {
    await setUp(host, options);
    const answers = await ask(host, options, screen);
    const missing = questionsOf(options).filter((question, place) => !isFound(question, answers[place]));
    for (const { query, mustFind } of missing) {
      screen.failure(`memory_search's reply to "${query}" holds no hit from ${mustFind}`);
    }
    isKept = options.keep;
    report(host, options, screen, { answers, isFound: missing.length === 0 });
    return missing.length === 0 ? 0 : 1;
  } catch (error) {
    // What a stopped process leaves half done is no news.
    if (host.isStopping) screen.line("Stopped.");
    else screen.failure(error instanceof Error ? error.message : String(error));
    return 1;
  } finally {
    if (isKept) await host.handOver();
    else await host.stop();
  }
}

async function setUp(host: OpenClawHost, options: DemoOptions): Promise<void> {
  const facts = join(host.home.root, "facts.jsonl");
  if (options.facts === undefined) await writeFile(facts, historyLines(new Date()));
  else await copyFacts(options.facts, facts);
  const tarball = await host.step("build and pack the plugin", () =>
    packPlugin(join(host.home.root, "pack")),
  );
  // First, since a mistake in somebody's file should show before the long steps.
  await host.step("import facts and audit rows", () => importFacts(host, facts));
  await host.installPlugin(tarball);
  await host.startGateway();
  await host.step("let OpenClaw index its own notes", () => indexNotes(host));
  if (options.facts === undefined)
    await host.step("store a fact through the agent's tool", () => tellFact(host));
}

async function copyFacts(file: string, to: string): Promise<void> {
  try {
    await copyFile(file, to);
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
    throw new Error(`--facts ${file} cannot be read (${reason}); give a file of JSON Lines.`);
  }
}

/** The first search does it; the questions should not have to wait for that. */
async function indexNotes(host: OpenClawHost): Promise<void> {
  const reply = await host.invokeTool("memory_search", { query: "notes", corpus: "memory" });
  if (!reply.ok) throw new Error(`memory_search failed: ${reply.error?.message ?? `status ${reply.status}`}`);
}

async function importFacts(host: OpenClawHost, file: string): Promise<void> {
  const command = join(DIST, "helmdeck-memory.mjs");
  const { code, stdout, stderr } = await host.run(process.execPath, [command, "import", file]);
  if (code !== 0) throw new Error(`The facts were not all taken:\n${stderr.trim()}\n${stdout.trim()}`);
}

async function tellFact(host: OpenClawHost): Promise<void> {
  const reply = await host.invokeTool("helmdeck__memory_store", { ...TOLD });
  if (!reply.ok) throw new Error(`helmdeck__memory_store failed: ${reply.error?.message ?? reply.text}`);
}

async function ask(host: OpenClawHost, options: DemoOptions, screen: Screen): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const { query } of questionsOf(options)) {
    const answer = await askMemorySearch(host, query);
    screen.answer(answer);
    answers.push(answer);
  }
  return answers;
}

/** One's own questions must find something of helmdeck's; the story's questions a certain fact and a certain audit row. */
function questionsOf({ facts, query }: DemoOptions): readonly Question[] {
  const own = query.map((text) => ({ query: text, mustFind: "helmdeck/" }));
  return facts === undefined ? [...QUESTIONS, ...own] : own;
}

function isFound({ mustFind }: Question, answer: Answer | undefined): boolean {
  return answer?.hits.some(({ corpus, path }) => corpus === "helmdeck" && path.startsWith(mustFind)) === true;
}

interface Outcome {
  readonly answers: readonly Answer[];
  readonly isFound: boolean;
}

function report(host: OpenClawHost, options: DemoOptions, screen: Screen, outcome: Outcome): void {
  const { root, tokenPath, stateDir } = host.home;
  const stop = `kill -- -${host.pid}; sleep 3; rm -rf ${quoted(root)}`;
  // By this very Node: the one in the person's path may be too old.
  const command = [process.execPath, join(DIST, "helmdeck-memory.mjs"), "list"].map(quoted).join(" ");
  const use = `OPENCLAW_STATE_DIR=${quoted(stateDir)} ${command}`;
  if (options.json) {
    const gateway = options.keep ? { url: host.url, tokenPath, stateDir, use, stop } : undefined;
    console.log(
      JSON.stringify({ found: outcome.isFound, steps: host.steps, answers: outcome.answers, gateway }),
    );
    return;
  }
  if (outcome.isFound)
    screen.line("\nEvery question found what helmdeck holds, in memory_search's own reply.");
  if (!options.keep) return;
  screen.line(`\nThe gateway goes on: ${host.url}  (token in ${tokenPath})`);
  screen.line(`Use its memory:      ${use}`);
  screen.line(`Stop it:             ${stop}`);
}

/** One word of a shell's command. */
function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

process.exitCode = await main();
