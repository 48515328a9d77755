/** One subject's operations and queries on each surface, with one memory in this process. An answer is all visible text. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OpenMemory } from "../../app/compose.ts";
import type { StorageLocation } from "../../app/storage-location.ts";
import type { Entry, EntryFilter, MemoryStore } from "../../engine/store/memory-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { memoryPack } from "../../packs/shipped/memory-packs.ts";
import { makeForgetTool, makeStoreTool } from "../../plugin/agent-tools.ts";
import { makePromptPreparation } from "../../plugin/prompt.ts";
import { makeSupplement } from "../../plugin/supplement.ts";
import { createServer } from "../../server/create-server.ts";
import { mcpMount } from "../../server/mcp/mcp-over-http.ts";
import { mintToken } from "../../server/tokens.ts";
import type { Seen } from "../cli/terminal.ts";
import { policyFor, recordingLogger } from "../plugin/fake-host.ts";
import { accessTo } from "../plugin/fake-memory.ts";
import { testServerContext } from "../server/fixtures/mcp-context.ts";
import { helmdeckMemory, openclawHelmdeck } from "../surfaces/command-lines.ts";
import { isTakenEverywhere } from "./names.ts";

/** A word in every value. */
export const COMMON_WORD = "zebrafish";
export const SHARED_KEY = "shared/key";
const SHARED_PATH = `helmdeck/user_facts/${SHARED_KEY}.md`;
const SPACE = "a-model";

interface WrittenFact {
  readonly key: string;
  readonly value: string;
  readonly category: string;
}

export interface Asker {
  /** Returns the surface's text, also for a refusal. */
  readonly store?: (fact: WrittenFact) => Promise<string>;
  readonly forget?: (scope: string, dryRun: boolean) => Promise<string>;
  /** Shows this fact, if it exists. */
  readonly fact?: (key: string) => Promise<string>;
  /** Shows every fact. */
  readonly facts?: () => Promise<string>;
  /** Shows every fact and run. */
  readonly everything?: () => Promise<string>;
  /** Each shows some of the contents. */
  readonly some?: readonly (() => Promise<string>)[];
}

export interface Surface {
  readonly name: string;
  /** How often this surface is used, relative to the others. */
  readonly weight: number;
  readonly takes: (name: string) => boolean;
  readonly as: (subject: string) => Asker;
}

export interface Surfaces {
  readonly all: readonly Surface[];
  readonly close: () => Promise<void>;
}

const everybody = () => true;

export async function surfacesOver(
  memory: OpenMemory,
  place: StorageLocation,
  names: readonly string[],
): Promise<Surfaces> {
  const server = await serverOver(memory, names.filter(isTakenEverywhere));
  const ofPlugin = pluginOver(memory, names);
  const surface = (name: string, weight: number, as: Surface["as"], takes = isTakenEverywhere): Surface => ({
    name,
    weight,
    takes,
    as,
  });
  return {
    all: [
      surface("use cases", 6, (subject) => useCases(memory, subject), everybody),
      surface("store", 5, (subject) => storeOf(memory.store, subject), everybody),
      surface("vectors", 2, (subject) => vectorsOf(memory.store, subject, names), everybody),
      surface("REST", 6, (subject) => server.rest(subject)),
      surface("MCP", 5, (subject) => server.mcp(subject)),
      surface("tools and supplement", 6, ofPlugin),
      surface("helmdeck-memory", 1, (subject) => commandLine(place, subject)),
      surface("openclaw helmdeck", 1, (subject) => openclawCommandLine(place, subject)),
    ],
    close: server.close,
  };
}

/** Includes the text of errors, which must not reveal more than an answer may. */
async function textOf(work: () => Promise<unknown>): Promise<string> {
  const answer = await work().catch((error: unknown) => String(error));
  return typeof answer === "string" ? answer : JSON.stringify(answer ?? null);
}

function useCases(memory: OpenMemory, subject: string): Asker {
  return {
    store: (fact) => textOf(() => memory.storeFact(subject, fact)),
    forget: (scope, dryRun) => textOf(() => memory.forget(subject, { scope, dryRun })),
    fact: (key) => textOf(() => memory.getFact(subject, { key })),
    facts: () => textOf(() => memory.listFacts(subject, {})),
    everything: () => textOf(() => memory.corpusPage(subject, { limit: 100 })),
    some: [
      () => textOf(() => memory.search(subject, { query: COMMON_WORD })),
      () => textOf(() => memory.review(subject, {})),
      () => textOf(() => memory.readDocument(subject, { path: SHARED_PATH })),
      () => textOf(() => memory.readDocument(subject, { path: "helmdeck/my-memory.md" })),
      () => textOf(() => memory.myMemory(subject)),
      () => textOf(() => memory.defaults(subject)),
      () => textOf(() => memory.status(subject)),
    ],
  };
}

function storeOf(store: MemoryStore, subject: string): Asker {
  const namespace = namespaceOf(subject);
  const shown = (entries: readonly Entry[]) => entries.map(({ value }) => Buffer.from(value).toString());
  const listed = async (origin: readonly ("fact" | "audit")[]) =>
    shown((await store.list({ namespace, origin, limit: 1_000 })).entries);
  return {
    store: ({ key, value, category }) =>
      textOf(() =>
        store.put({ namespace, origin: "fact", key, value: Buffer.from(value), category, tags: [] }),
      ),
    forget: (scope, dryRun) =>
      textOf(() => {
        const filter = { namespace, includeSessions: true, ...filterOf(scope) };
        return dryRun ? store.countWhere(filter) : store.deleteWhere(filter);
      }),
    fact: (key) =>
      textOf(async () => {
        const entry = await store.get({ namespace, origin: "fact", key });
        return entry === undefined ? [] : shown([entry]);
      }),
    facts: () => textOf(() => listed(["fact"])),
    everything: () => textOf(() => listed(["fact", "audit"])),
    some: [
      () => textOf(() => store.listMeta({ namespace, prefix: "" })),
      () => textOf(() => store.categories(namespace)),
      () =>
        textOf(async () => {
          const changes = await store.changes({ namespace, since: 0 });
          return changes.kind === "changes" ? shown(changes.upserts) : [];
        }),
    ],
  };
}

function filterOf(scope: string): Partial<EntryFilter> {
  const [kind, name = ""] = scope.split(/:(.*)/s);
  if (kind === "key") return { origins: ["fact"], key: name };
  if (kind === "category") return { origins: ["fact"], category: name };
  if (kind === "packs") return { origins: ["audit"], category: "pack_history" };
  if (kind === "tools") return { origins: ["audit"], category: "tool_history" };
  return {};
}

/** Stores and reads vectors of all subjects' entries. The entries' values show whose vectors were stored or read. */
function vectorsOf(store: MemoryStore, subject: string, names: readonly string[]): Asker {
  const namespace = namespaceOf(subject);
  const entriesOf = async (name: string) =>
    (await store.list({ namespace: namespaceOf(name), limit: 1_000 })).entries;
  const readable = async (reader: string, entries: readonly Entry[]) => {
    const ids = entries.map(({ id }) => id);
    return ids.length === 0 ? [] : store.vectors({ namespace: namespaceOf(reader), space: SPACE, ids });
  };
  const keepAndRead = async () => {
    const entries = (await Promise.all(names.map(entriesOf))).flat();
    const made = entries.map(({ id, fingerprint }) => ({
      id,
      fingerprint,
      dimensions: 1,
      vectors: Float32Array.of(1),
    }));
    const kept = await store.putVectors(namespace, SPACE, made);
    const read = (await readable(subject, entries)).map(({ id }) => id);
    const touched = new Set([...kept, ...read]);
    return entries.filter(({ id }) => touched.has(id)).map(({ value }) => Buffer.from(value).toString());
  };
  const deleteAll = async () => {
    const others = names.filter((name) => namespaceOf(name) !== namespace);
    const theirs = await Promise.all(others.map(async (name) => ({ name, entries: await entriesOf(name) })));
    const all = theirs.flatMap(({ entries }) => entries);
    const before = await Promise.all(theirs.map(({ name, entries }) => readable(name, entries)));
    if (all.length > 0)
      await store.deleteOtherVectors({ namespace, space: "another", ids: all.map(({ id }) => id) });
    const after = await Promise.all(theirs.map(({ name, entries }) => readable(name, entries)));
    return theirs
      .filter((_, index) => before[index]?.length !== after[index]?.length)
      .flatMap(({ entries }) => entries.map(({ value }) => Buffer.from(value).toString()));
  };
  return { some: [() => textOf(keepAndRead), () => textOf(deleteAll)] };
}

const SECRET = Buffer.from("a secret of the isolation test, long enough");

async function serverOver(memory: OpenMemory, names: readonly string[]) {
  const context = testServerContext({
    memory,
    packs: [memoryPack("store", memory), memoryPack("forget", memory), memoryPack("corpus", memory)],
  });
  const mount = mcpMount(context, {});
  const { app } = createServer(context, { secret: SECRET, requestsPerMinute: 0, mounts: [mount] });
  const tokens = new Map<string, string>();
  const clients = new Map<string, Client>();
  for (const subject of names) {
    const { token } = await mintToken(SECRET, { subject, ttlSeconds: 3_600 * 24 }, Date.now());
    const client = new Client({ name: "test", version: "1.0.0" });
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    const fetch = async (url: string | URL, init?: RequestInit) => app.request(String(url), init);
    await client.connect(
      new StreamableHTTPClientTransport(new URL("http://localhost/api/v1/mcp"), { fetch, requestInit }),
    );
    tokens.set(subject, token);
    clients.set(subject, client);
  }

  function rest(subject: string): Asker {
    const headers = { Authorization: `Bearer ${tokens.get(subject)}`, "Content-Type": "application/json" };
    const get = (path: string) =>
      textOf(async () => (await app.request(`/api/v1/memory${path}`, { headers })).text());
    const post = (path: string, body: unknown) => {
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return textOf(async () => (await app.request(`/api/v1/memory${path}`, init)).text());
    };
    return {
      store: (fact) => post("/store", fact),
      forget: (scope, dry_run) => post("/forget", { scope, dry_run }),
      fact: (key) => get(`/facts/${encodeURIComponent(key)}`),
      facts: () => get("/facts"),
      everything: () => get("/corpus?limit=100"),
      some: [
        () => get(""),
        () => get("/defaults"),
        () => get("/callers"),
        () => get(`/corpus?query=${COMMON_WORD}`),
        () => get(`/facts/${encodeURIComponent(SHARED_PATH)}`),
      ],
    };
  }

  function mcp(subject: string): Asker {
    const call = (tool: string, args: Readonly<Record<string, unknown>>) =>
      textOf(async () =>
        clients.get(subject)?.callTool({ name: `helmdeck__memory_${tool}`, arguments: { ...args } }),
      );
    const read = (uri: string) => textOf(async () => clients.get(subject)?.readResource({ uri }));
    return {
      store: (fact) => call("store", { ...fact }),
      forget: (scope, dry_run) => call("forget", { scope, dry_run }),
      everything: () => call("corpus", { limit: 100 }),
      some: [
        () => call("corpus", { query: COMMON_WORD }),
        () => read("helmdeck://my-memory"),
        () => read("helmdeck://my-defaults"),
      ],
    };
  }

  return {
    rest,
    mcp,
    close: async () => {
      await Promise.all([...clients.values()].map((client) => client.close()));
      await mount.close?.();
    },
  };
}

/** One registration for all agents, like in a gateway: each subject is the memory of its own agent. */
function pluginOver(memory: OpenMemory, names: readonly string[]): Surface["as"] {
  const agentOf = (subject: string) => `agent${names.indexOf(subject)}`;
  const subjects = Object.fromEntries(names.filter(isTakenEverywhere).map((name) => [agentOf(name), name]));
  const parts = { access: accessTo(memory), policy: policyFor({ subjects }), log: recordingLogger() };
  const supplement = makeSupplement(parts);
  const prepare = makePromptPreparation(parts);
  const availableTools = new Set(["memory_search"]);
  return (subject) => {
    const agentId = agentOf(subject);
    const session = `agent:${agentId}:main`;
    const context = { agentId, sessionKey: session, sandboxed: false };
    const asking = { agentId, agentSessionKey: session, sandboxed: false };
    return {
      store: (fact) => textOf(() => makeStoreTool(parts, context).execute("call", fact)),
      forget: (scope, dry_run) =>
        textOf(() => makeForgetTool(parts, context).execute("call", { scope, dry_run })),
      some: [
        () => textOf(() => supplement.search({ ...asking, query: COMMON_WORD, maxResults: 50 })),
        () => textOf(async () => supplement.get({ ...asking, lookup: SHARED_PATH })),
        () => textOf(async () => supplement.get({ ...asking, lookup: "helmdeck/my-memory.md" })),
        () => textOf(async () => prepare({ ...asking, availableTools })),
      ],
    };
  };
}

function commandLine(place: StorageLocation, subject: string): Asker {
  return asker((command, ...args) => helmdeckMemory(place, [command, `--caller=${subject}`, ...args]));
}

function openclawCommandLine(place: StorageLocation, subject: string): Asker {
  return asker((...args) => openclawHelmdeck(place, args, subject));
}

/** The operations that both command lines share. */
function asker(type: (command: string, ...args: readonly string[]) => Promise<Seen>): Asker {
  const run = (command: string, ...args: readonly string[]) =>
    textOf(async () => {
      const { stdout, stderr } = await type(command, ...args);
      return stdout + stderr;
    });
  return {
    store: ({ key, value, category }) => run("store", "--json", `--category=${category}`, "--", key, value),
    forget: (scope, dryRun) => run("forget", "--json", dryRun ? "--dry-run" : "--yes", "--", scope),
    fact: (key) => run("get", "--json", "--", key),
    facts: () => run("list", "--json"),
    everything: () => run("export"),
    some: [() => run("search", COMMON_WORD), () => run("list"), () => run("status", "--json")],
  };
}
