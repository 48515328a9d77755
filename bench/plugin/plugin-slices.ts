/**
 * How long our code holds the main thread in one go, with a full store: the built plugin, registered with a stand-in for the
 * host, does everything a gateway asks of it.
 *
 * The clock runs from each call into the plugin, and from each message of its worker, until the event loop comes round
 * again; so it holds everything that follows in the same go, but for the unpacking of a message before it is handed out
 * (well under a millisecond). What other threads and processes take of the processor meanwhile is not ours: Linux says how
 * long a thread had to wait, and that is taken off. What then is left of it shows in the first phase, in which the clock
 * runs over nothing at all. The whole is repeated: what we cause is there each time.
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
  /** Milliseconds of the main thread in one go, by what was asked meanwhile. */
  readonly phases: readonly { readonly phase: string; readonly firstMs: number; readonly leastMs: number }[];
}

const SEARCHES = 100;
/** As many as OpenClaw itself asks supplements at once. */
const AT_ONCE = 4;
const IDLE_TURNS = 1_000;
const SUBJECT = "main";
const WHO = { agentId: SUBJECT, agentSessionKey: `agent:${SUBJECT}:main`, sandboxed: false };
const CONTEXT = { agentId: SUBJECT, sessionKey: WHO.agentSessionKey, sandboxed: false };
const TOOLS = new Set(["memory_search", "memory_get", "helmdeck__memory_store", "helmdeck__memory_forget"]);

// The host's interfaces, as far as they are called here.
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

/** Measures the longest slice while something is done. */
class Watch {
  #longestMs = 0;
  #since: number | undefined;
  readonly #ranMs: () => number;

  constructor() {
    const waitedMs = waitingTime();
    this.#ranMs = () => performance.now() - waitedMs();
  }

  /** Something of ours begins here; until the loop comes round, all belongs to it. */
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

/** Has every message of a worker counted; gives the way back. */
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
  // In the gateway the host's own modules are there already.
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
    const { default: plugin } = await import(`${file.href}?round=${round}`); // anew each time, as the host does
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

/** A hit that says that it comes from a part of the index only carries a provenance label. */
async function untilIndexed(supplement: Registered["supplement"]): Promise<void> {
  for (;;) {
    const hits = await supplement
      .search({ ...WHO, query: "deploy preference" })
      .catch(() => [{ provenanceLabel: "late" }]);
    if (hits.every((hit) => Reflect.get(Object(hit), "provenanceLabel") === undefined)) return;
  }
}

/** What the host hands to `register`, and what it gets. */
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

/** How long this thread was ready to run and had no processor, in milliseconds; always 0 where nobody tells. */
function waitingTime(): () => number {
  try {
    const file = openSync("/proc/thread-self/schedstat", "r");
    const buffer = Buffer.alloc(96);
    return () => {
      const text = buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0));
      return Number(text.split(" ")[1]) / 1e6; // run time, waiting time, both in ns
    };
  } catch {
    return () => 0;
  }
}

/** Lets the watching loop come round, so that one phase's last slice is not counted as the next one's. */
async function nextRound(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((done) => setImmediate(done));
}

if (import.meta.main) {
  const [entries = 100_000, rounds = 5] = process.argv.slice(2).map(Number);
  console.log(JSON.stringify(await main(entries, rounds)));
}
