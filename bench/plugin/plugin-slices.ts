/**
 * Measures how long our code blocks the main thread without a pause, with a full store. The built plugin is registered with a stand-in for
 * the host and does everything that a gateway asks of it.
 *
 * A measurement begins with each call into the plugin and with each message of its worker, and ends when the event loop reaches its next
 * turn. It therefore includes everything in that turn, except for the deserialization of the message (well under a millisecond). On Linux,
 * the time that the thread waited for a processor is subtracted, because other threads and processes cause it. The first phase measures
 * an idle thread and shows the error that remains. The measurement is repeated, because costs of our own code recur each time.
 *
 *   node bench/plugin/plugin-slices.ts ENTRIES ROUNDS   → JSON on standard output
 */
import { mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { PLUGIN_DIST } from "../../scripts/build/build.ts";
import { fillMemory } from "./fill.ts";

export interface Slices {
  readonly entries: number;
  readonly rounds: number;
  /** Milliseconds without a pause on the main thread, for each phase. */
  readonly phases: readonly { readonly phase: string; readonly firstMs: number; readonly leastMs: number }[];
}

const SEARCHES = 100;
/** The number of supplements that OpenClaw itself asks at once. */
const AT_ONCE = 4;
const IDLE_TURNS = 1_000;
const SUBJECT = "main";
const WHO = { agentId: SUBJECT, agentSessionKey: `agent:${SUBJECT}:main`, sandboxed: false };
const CONTEXT = { agentId: SUBJECT, sessionKey: WHO.agentSessionKey, sandboxed: false };
const TOOLS = new Set(["memory_search", "memory_get", "helmdeck__memory_store", "helmdeck__memory_forget"]);

// The parts of the host's interfaces that are called here.
interface Registered {
  supplement: { search(params: object): Promise<unknown[]>; get(params: object): Promise<unknown> };
  prepare: (params: object) => Promise<unknown>;
  hooks: Record<string, (event: object, context: object) => unknown>;
  tools: ((context: object) => { execute(id: string, params: object): Promise<unknown> })[];
  command: { handler(context: object): Promise<unknown> };
  service: { start(context: object): Promise<void> };
  dispose: () => Promise<void>;
}

interface Longest {
  readonly phase: string;
  readonly ms: number;
}

/** Measures the longest slice while a phase runs. */
class Watch {
  #longestMs = 0;
  #since: number | undefined;
  readonly #ranMs: () => number;

  constructor() {
    const waitedMs = waitingTime();
    this.#ranMs = () => performance.now() - waitedMs();
  }

  /** Marks the start of our code. Everything until the next turn of the event loop counts. */
  mark(): void {
    if (this.#since !== undefined) return;
    this.#since = this.#ranMs();
    setImmediate(() => {
      this.#longestMs = Math.max(this.#longestMs, this.#ranMs() - (this.#since ?? Number.NaN));
      this.#since = undefined;
    });
  }

  async during(phase: string, work: () => unknown): Promise<Longest> {
    await nextRound();
    this.#longestMs = 0;
    this.mark();
    await work();
    await nextRound();
    return { phase, ms: Math.round(this.#longestMs * 100) / 100 };
  }
}

/** Marks every message of a worker. Returns a function that restores the original. */
function markMessages(watch: Watch): () => void {
  const { emit } = Worker.prototype;
  Worker.prototype.emit = function (...args: Parameters<typeof emit>) {
    watch.mark();
    return emit.apply(this, args);
  };
  return () => {
    Worker.prototype.emit = emit;
  };
}

async function main(entries: number, rounds: number): Promise<Slices> {
  const stateDir = mkdtempSync(join(tmpdir(), "helmdeck-slices-"));
  try {
    await fillMemory(stateDir, SUBJECT, entries);
    const seen: (readonly Longest[])[] = [];
    for (let round = 0; round < rounds; round += 1) seen.push(await watchEverything(stateDir, round));
    return { entries, rounds, phases: summary(seen) };
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}

function summary(seen: readonly (readonly Longest[])[]): Slices["phases"] {
  const [first = []] = seen;
  return first.map(({ phase, ms }, index) => ({
    phase,
    firstMs: ms,
    leastMs: Math.min(...seen.map((round) => round[index]?.ms ?? ms)),
  }));
}

async function watchEverything(stateDir: string, round: number): Promise<readonly Longest[]> {
  // In a gateway, the host's own modules are already loaded.
  await Promise.all([import("openclaw/plugin-sdk/plugin-entry"), import("openclaw/plugin-sdk/routing")]);
  const watch = new Watch();
  const unmark = markMessages(watch);
  const longest: Longest[] = [];
  const registered = registration(stateDir);
  const note = async (phase: string, work: () => unknown) =>
    void longest.push(await watch.during(phase, work));
  await note("nothing", async () => {
    for (let turn = 0; turn < IDLE_TURNS; turn += 1) {
      watch.mark();
      await nextRound();
    }
  });
  await note("load and register", async () => {
    const file = pathToFileURL(join(PLUGIN_DIST, "dist", "index.js"));
    const { default: plugin } = await import(`${file.href}?round=${round}`); // loads the module again, as the host does
    plugin.register(registered.api);
  });
  const { supplement, prepare, hooks, tools, command, service, dispose } = registered.parts();
  const search = (index: number) => {
    watch.mark();
    const query = `deploy preference ${index % 7} topic${index}`;
    return supplement.search({ ...WHO, query, maxResults: 50 });
  };
  await note("start, first search while indexing", () => Promise.allSettled([service.start({}), search(0)]));
  await note("indexing to its end", () => untilIndexed(supplement));
  await note(`${SEARCHES} searches, ${AT_ONCE} at once`, async () => {
    for (let index = 0; index < SEARCHES; index += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, more) => search(index + more)));
    }
  });
  await note("memory_get", () => supplement.get({ ...WHO, lookup: "helmdeck/user_facts/topic7/fact-7.md" }));
  await note("my-memory", () => supplement.get({ ...WHO, lookup: "helmdeck/my-memory.md" }));
  await note("prompt lines", () => prepare({ ...WHO, availableTools: TOOLS }));
  await note("store, forget", async () => {
    await tools[0]?.(CONTEXT).execute("1", { key: "largest", value: "x ".repeat(32_000) });
    await tools[1]?.(CONTEXT).execute("2", { scope: "key:largest" });
  });
  await note("hooks", async () => {
    hooks.before_tool_call?.({ toolName: "memory_search", params: { query: "x" } }, CONTEXT);
    await hooks.after_tool_call?.({ toolName: "helmdeck__web-scrape", params: {}, toolCallId: "1" }, CONTEXT);
  });
  await note("/helmdeck status", () => command.handler({ ...CONTEXT, args: "" }));
  await note("dispose", dispose);
  unmark();
  return longest;
}

/** Hits of an incomplete index carry a provenance label. Waits until there is none. */
async function untilIndexed(supplement: Registered["supplement"]): Promise<void> {
  for (;;) {
    const hits = await supplement
      .search({ ...WHO, query: "deploy preference" })
      .catch(() => [{ provenanceLabel: "late" }]);
    if (hits.every((hit) => Reflect.get(Object(hit), "provenanceLabel") === undefined)) return;
  }
}

/** The host's argument of `register`, and access to the parts that the plugin registers with it. */
function registration(stateDir: string) {
  const got: Partial<Registered> & Pick<Registered, "hooks" | "tools"> = { hooks: {}, tools: [] };
  const silent = () => {};
  const api = {
    pluginConfig: {},
    config: {},
    logger: { debug: silent, info: silent, warn: console.error, error: console.error },
    runtime: { version: "0", config: { current: () => ({}) }, state: { resolveStateDir: () => stateDir } },
    lifecycle: { onDispose: (dispose: Registered["dispose"]) => void Object.assign(got, { dispose }) },
    registerMemoryCorpusSupplement: (supplement: Registered["supplement"]) =>
      void Object.assign(got, { supplement }),
    registerMemoryPromptPreparation: (prepare: Registered["prepare"]) => void Object.assign(got, { prepare }),
    on: (name: string, hook: Registered["hooks"][string]) => void Object.assign(got.hooks, { [name]: hook }),
    registerTool: (tool: Registered["tools"][number]) => void got.tools.push(tool),
    registerCommand: (command: Registered["command"]) => void Object.assign(got, { command }),
    registerService: (service: Registered["service"]) => void Object.assign(got, { service }),
    registerGatewayMethod: silent,
    registerCli: silent,
  };
  return { api, parts: () => got as Registered }; // register has been called by then
}

/** How long this thread was ready to run but had no processor, in milliseconds. Always 0 if the system does not report it. */
function waitingTime(): () => number {
  try {
    const file = openSync("/proc/thread-self/schedstat", "r");
    const buffer = Buffer.alloc(96);
    return () => {
      const text = buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0));
      return Number(text.split(" ")[1]) / 1e6; // run time and waiting time, both in ns
    };
  } catch {
    return () => 0;
  }
}

/** Waits for the next turn of the event loop, so that the last slice of one phase does not count for the next. */
async function nextRound(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((done) => setImmediate(done));
}

if (import.meta.main) {
  const [entries = 100_000, rounds = 5] = process.argv.slice(2).map(Number);
  console.log(JSON.stringify(await main(entries, rounds)));
}
