/**
 * The demo: `npm run demo` shows that OpenClaw's own memory_search finds helmdeck's facts.
 *
 * Everything is real: the gateway, the packed plugin, the tool and the command that store, and the HTTP search call. All files
 * are in one temporary folder, which is always deleted at the end.
 */
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DIST } from "../build/build.ts";
import { OpenClawHost } from "../openclaw-host/openclaw-host.ts";
import { packPlugin } from "../pack.ts";
import { type Answer, askMemorySearch, type DemoHit } from "./asking.ts";
import { type DemoOptions, readOptions } from "./demo-options.ts";
import { Screen } from "./screen.ts";
import { EARLIER, NOTES, QUESTIONS, TOLD } from "./story.ts";

/** A question, and the hit that memory_search must return for the demo to succeed. */
interface Question {
  readonly query: string;
  /** The path prefix of the expected hit. */
  readonly mustFind: string;
  /** A hit that is only possibly related does not count. */
  readonly mustBeSure?: true;
}

const LOADED_WITHIN_MS = 60_000;

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
    for (const question of missing) screen.failure(whatIsMissing(question));
    isKept = options.keep;
    report(host, options, screen, { answers, isFound: missing.length === 0 });
    return missing.length === 0 ? 0 : 1;
  } catch (error) {
    // Errors of stopped processes are expected.
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
  if (options.facts === undefined) await writeFile(facts, EARLIER);
  else await copyFacts(options.facts, facts);
  const tarball = await host.step("build and pack the plugin", () =>
    packPlugin(join(host.home.root, "pack")),
  );
  // First, so that an error in a user's file shows before the long steps.
  await host.step("import earlier facts", () => importFacts(host, facts));
  await host.installPlugin(tarball);
  await host.step("install the built-in model", () => command(host, "model", "install"));
  await host.startGateway();
  await host.step("let OpenClaw index its own notes", () => indexNotes(host));
  if (options.facts === undefined)
    await host.step("store a fact through the agent's tool", () => tellFact(host));
  const [{ query } = { query: "" }] = questionsOf(options);
  await host.step("let the built-in model embed the facts", () => loadModel(host, query));
}

async function copyFacts(file: string, to: string): Promise<void> {
  try {
    await copyFile(file, to);
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
    throw new Error(`--facts ${file} cannot be read (${reason}); give a file of JSON Lines.`);
  }
}

/** The first search builds the index, so that the questions need not wait. */
async function indexNotes(host: OpenClawHost): Promise<void> {
  const reply = await host.invokeTool("memory_search", { query: "notes", corpus: "memory" });
  if (!reply.ok) throw new Error(`memory_search failed: ${reply.error?.message ?? `status ${reply.status}`}`);
}

async function importFacts(host: OpenClawHost, file: string): Promise<void> {
  try {
    await command(host, "import", file);
  } catch (error) {
    throw new Error(`Some facts were not imported:\n${error instanceof Error ? error.message : error}`);
  }
}

/** Runs `helmdeck-memory` with the demo's home. Returns what it prints. */
async function command(host: OpenClawHost, ...args: readonly string[]): Promise<string> {
  const program = join(DIST, "helmdeck-memory.mjs");
  const { code, stdout, stderr } = await host.run(process.execPath, [program, ...args]);
  if (code !== 0) throw new Error(`${stderr.trim()}\n${stdout.trim()}`);
  return stdout;
}

/** Until then the gateway answers by keywords: it embeds in the background, and loads the model when it is first asked. */
async function loadModel(host: OpenClawHost, query: string): Promise<void> {
  await command(host, "embed");
  const deadline = Date.now() + LOADED_WITHIN_MS;
  let reply = await host.invokeTool("memory_search", { query });
  while (/keywords only/.test(reply.text) && Date.now() < deadline)
    reply = await host.invokeTool("memory_search", { query });
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

/** The user's questions must find any sure hit from helmdeck; the demo's own must find a specific fact each. */
function questionsOf({ facts, query }: DemoOptions): readonly Question[] {
  const own = query.map((text) => ({ query: text, mustFind: "helmdeck/", mustBeSure: true as const }));
  return facts === undefined ? [...QUESTIONS, ...own] : own;
}

function isFound({ mustFind, mustBeSure }: Question, answer: Answer | undefined): boolean {
  const counts = ({ corpus, path, provenanceLabel = "" }: DemoHit) =>
    corpus === "helmdeck" &&
    path.startsWith(mustFind) &&
    !(mustBeSure && provenanceLabel.includes("only possibly related"));
  return answer?.hits.some(counts) === true;
}

function whatIsMissing({ query, mustFind, mustBeSure }: Question): string {
  return `memory_search's reply to "${query}" holds no ${mustBeSure ? "sure hit" : "hit"} from ${mustFind}`;
}

interface Outcome {
  readonly answers: readonly Answer[];
  readonly isFound: boolean;
}

function report(host: OpenClawHost, options: DemoOptions, screen: Screen, outcome: Outcome): void {
  const { root, tokenPath, stateDir } = host.home;
  const stop = `kill -- -${host.pid}; sleep 3; rm -rf ${quoted(root)}`;
  // With this Node, because the one in the path may be too old.
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
    screen.line("\nEvery question found its answer from helmdeck in memory_search's reply.");
  if (!options.keep) return;
  screen.line(`\nThe gateway still runs: ${host.url}  (token in ${tokenPath})`);
  screen.line(`Use its memory:      ${use}`);
  screen.line(`Stop it:             ${stop}`);
}

/** Quoted for a shell. */
function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

process.exitCode = await main();
