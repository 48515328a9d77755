/**
 * Many clients at once use REST and MCP of a real `helmdeck-memory serve`, each with its own token. Each client reads back its
 * acknowledged facts, during the run and after the server was killed; none sees another's facts, and no answer is a 5xx.
 */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setInterval } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mintToken } from "../../server/tokens.ts";
import { CommandHome } from "../cli/command.ts";
import { Random } from "../durability/random.ts";
import { sized } from "../run/size.ts";

const CLIENTS = sized(50, 200);
const SECONDS = sized(10, 600);
const SECRET = "a-secret-for-the-clients-of-one-server";
const KEYS = 10;
const COMMON_WORD = "zebrafish";
const MARK = /own(\d+)no\d+x/g;
/** Longer than the test: it reports response times, but does not fail because of them. */
const PATIENCE_MS = (SECONDS + 60) * 1_000;
const SAMPLE_EVERY_MS = 1_000;
/**
 * Allowed growth of resident memory, from the second quarter of the run to the last: enough for uncollected garbage, too little
 * for a leak over ten minutes.
 */
const MOST_GROWTH = 1.25;

let home: CommandHome;
let server: ReturnType<CommandHome["start"]> | undefined;
beforeEach(() => {
  home = new CommandHome();
});
afterEach(async () => {
  await killServer();
  home.remove();
});

async function serve(): Promise<string> {
  server = home.start(["serve", "--port", "0", "--json", "--rate-limit", "0"], {
    env: { HELMDECK_MEMORY_KEY: "0f".repeat(32), HELMDECK_JWT_SECRET: SECRET },
  });
  server.stderr.resume();
  const [line] = await once(createInterface(server.stdout), "line");
  return JSON.parse(line).url;
}

async function killServer(): Promise<void> {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
  server.kill("SIGKILL");
  await once(server, "exit");
}

/** One client's requests. An answer is its text; errors that the client did not cause are thrown. */
interface Connection {
  readonly store: (key: string, value: string) => Promise<string>;
  readonly forget: (key: string) => Promise<string>;
  /** Reads one fact over REST. MCP has no such tool, so its clients search. */
  readonly get?: (key: string) => Promise<string>;
  readonly all: () => Promise<string>;
  readonly search: () => Promise<string>;
  readonly close: () => Promise<void>;
}

function overRest(url: string, token: string): Connection {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const ask = async (path: string, body?: unknown) => {
    const post = { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${url}/api/v1/memory${path}`, { headers, ...(body !== undefined && post) });
    const text = await response.text();
    if (response.status !== 200 && response.status !== 404) throw new Error(`${response.status}: ${text}`);
    return text;
  };
  return {
    store: (key, value) => ask("/store", { key, value }),
    forget: (key) => ask("/forget", { scope: `key:${key}` }),
    get: (key) => ask(`/facts/${encodeURIComponent(key)}`),
    all: () => ask("/facts"),
    search: () => ask(`/corpus?query=${COMMON_WORD}`),
    close: async () => {},
  };
}

async function overMcp(url: string, token: string): Promise<Connection> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/api/v1/mcp`), { requestInit }));
  const call = async (tool: string, args: Readonly<Record<string, unknown>>) => {
    const name = `helmdeck__memory_${tool}`;
    const asked = client.callTool({ name, arguments: { ...args } }, undefined, { timeout: PATIENCE_MS });
    const result = (await asked) as CallToolResult; // the call requested no task
    if (result.isError === true) throw new Error(JSON.stringify(result));
    return JSON.stringify(result.structuredContent);
  };
  return {
    store: (key, value) => call("store", { key, value }),
    forget: (key) => call("forget", { scope: `key:${key}` }),
    all: () => call("corpus", { limit: 100 }),
    search: () => call("corpus", { query: COMMON_WORD }),
    close: () => client.close(),
  };
}

const tokenOf = async (subject: string) =>
  (await mintToken(Buffer.from(SECRET), { subject, ttlSeconds: 86_400 }, Date.now())).token;
const marksIn = (text: string) => [...new Set([...text.matchAll(MARK)].map(([mark]) => mark))].sort();

/** A client that remembers the facts it stored. */
class TestClient {
  readonly subject: string;
  readonly problems: string[] = [];
  operations = 0;
  longestMs = 0;
  readonly #number: number;
  readonly #connection: Connection;
  readonly #random: Random;
  readonly #stored = new Map<string, string>();

  constructor(number: number, connection: Connection) {
    this.#number = number;
    this.subject = subjectOf(number);
    this.#connection = connection;
    this.#random = new Random(number + 1);
  }

  async workUntil(isOver: () => boolean): Promise<void> {
    while (!isOver() && this.problems.length === 0) {
      const began = performance.now();
      await this.#step().catch((error: unknown) => this.problems.push(`${this.subject}: ${error}`));
      this.longestMs = Math.max(this.longestMs, performance.now() - began);
      this.operations++;
    }
    await this.#connection.close().catch(() => {});
  }

  /** Checks that the answer shows exactly the client's facts. */
  check(shown: string): void {
    const expected = [...this.#stored.values()].sort();
    if (marksIn(shown).join() !== expected.join())
      this.problems.push(`${this.subject}: shown ${marksIn(shown)}, stored ${expected}`);
  }

  async #step(): Promise<void> {
    const key = `shared/key-${this.#random.below(KEYS)}`;
    const choice = this.#random.below(10);
    if (choice < 3) return this.#store(key);
    if (choice < 4) return this.#forget(key);
    if (choice < 7) return this.#get(key);
    if (choice < 8) return this.check(await this.#connection.all());
    this.#checkOwn(await this.#connection.search());
  }

  async #store(key: string): Promise<void> {
    const mark = `own${this.#number}no${this.operations}x`;
    this.#checkOwn(await this.#connection.store(key, `The ${COMMON_WORD} is ${mark}.`));
    this.#stored.set(key, mark);
  }

  async #forget(key: string): Promise<void> {
    this.#checkOwn(await this.#connection.forget(key));
    this.#stored.delete(key);
  }

  async #get(key: string): Promise<void> {
    if (this.#connection.get === undefined) return this.check(await this.#connection.all());
    const shown = marksIn(await this.#connection.get(key)).join();
    const stored = this.#stored.get(key) ?? "";
    if (shown !== stored) this.problems.push(`${this.subject}: ${key} shows "${shown}", stored "${stored}"`);
  }

  #checkOwn(shown: string): void {
    const foreign = marksIn(shown).filter((mark) => !mark.startsWith(`own${this.#number}no`));
    if (foreign.length > 0) this.problems.push(`${this.subject}: sees ${foreign}`);
  }
}

const subjectOf = (number: number) => `client:${number}`;

async function connect(url: string, number: number): Promise<TestClient> {
  const token = await tokenOf(subjectOf(number));
  return new TestClient(number, number % 2 === 0 ? overRest(url, token) : await overMcp(url, token));
}

/** The server's resident memory in megabytes, once per second. */
async function watchMemory(isOver: () => boolean): Promise<readonly number[]> {
  const samples: number[] = [];
  for await (const _ of setInterval(SAMPLE_EVERY_MS)) {
    if (isOver()) break;
    const status = await readFile(`/proc/${server?.pid}/status`, "utf8").catch(() => "");
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
    if (kilobytes !== undefined) samples.push(Number(kilobytes) / 1_024);
  }
  return samples;
}

function medianOf(samples: readonly number[]): number {
  return [...samples].sort((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
}

// verifies P-load-clients, P-alone-subjects, P-durable-kill
describe(`${CLIENTS} clients for ${SECONDS} seconds`, () => {
  test("read back their acknowledged facts, see no other client's facts, and get no 5xx", async () => {
    const url = await serve();
    const clients = await Promise.all(Array.from({ length: CLIENTS }, (_, number) => connect(url, number)));
    const end = performance.now() + SECONDS * 1_000;
    const isOver = () => performance.now() >= end;
    const [memory] = await Promise.all([
      watchMemory(isOver),
      ...clients.map((client) => client.workUntil(isOver)),
    ]);
    await killServer();

    const again = await serve();
    for (const client of clients) {
      client.check(await overRest(again, await tokenOf(client.subject)).all());
    }
    expect(clients.flatMap(({ problems }) => problems)).toEqual([]);
    expect(Math.min(...clients.map(({ operations }) => operations))).toBeGreaterThan(0);
    const quarter = Math.floor(memory.length / 4);
    const [early, late] = [medianOf(memory.slice(quarter, 2 * quarter)), medianOf(memory.slice(-quarter))];
    const total = clients.reduce((sum, { operations }) => sum + operations, 0);
    const longest = Math.max(...clients.map(({ longestMs }) => longestMs)) / 1_000;
    console.log(
      `${total} operations, the longest ${longest.toFixed(1)} s; server at ${early.toFixed()} MB, later at ${late.toFixed()} MB`,
    );
    if (SECONDS >= 60) expect(late).toBeLessThan(early * MOST_GROWTH);
  });
});
