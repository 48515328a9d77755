/** Every surface that can forget, with the same memory and answers in the same form. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Memory } from "../../app/memory.ts";
import type { OpenMemoryOptions } from "../../app/open-memory-options.ts";
import type { StorageLocation } from "../../app/storage-location.ts";
import { startWorkerMemory } from "../../app/worker/worker-client.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { nodeSqliteDriver } from "../../engine/store/sqlite/node-sqlite-driver.ts";
import { memoryPack } from "../../packs/shipped/memory-packs.ts";
import { makeForgetTool } from "../../plugin/agent-tools.ts";
import { createServer } from "../../server/create-server.ts";
import type { Seen } from "../cli/terminal.ts";
import { MAIN_CONTEXT, policyFor, recordingLogger } from "../plugin/fake-host.ts";
import { accessTo } from "../plugin/fake-memory.ts";
import { mcpClientOf } from "../server/fixtures/mcp-client.ts";
import { testServerContext } from "../server/fixtures/mcp-context.ts";
import { helmdeckMemory, openclawHelmdeck } from "./command-lines.ts";

interface Stage {
  readonly memory: Memory;
  readonly place: StorageLocation;
}

/** The answer as a person or program sees it: data, text or both, or a refusal. */
interface Outcome {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly words?: string;
  readonly refusal?: string;
}

export type Forget = (scope: string, dryRun?: boolean) => Promise<Outcome>;

export interface ForgetSurface {
  readonly name: string;
  /** The subject whose memory this surface changes. */
  readonly caller: string;
  /** A driver for each surface: one process must not open the same file with two SQLite libraries. */
  readonly driver: OpenMemoryOptions["driver"];
  readonly open: (stage: Stage) => Promise<{ readonly forget: Forget; readonly close?: () => Promise<void> }>;
}

const MAIN = { caller: "main", driver: betterSqliteDriver };
const UNKNOWN = { caller: "unknown", driver: betterSqliteDriver };

export const FORGET_SURFACES: readonly ForgetSurface[] = [
  { name: "memory in process", ...MAIN, open: async ({ memory }) => ({ forget: forgetIn(memory) }) },
  {
    ...{ name: "memory in a worker", caller: "main", driver: nodeSqliteDriver },
    open: async ({ place }) => {
      const workerUrl = new URL("../app/fixtures/memory-worker.ts", import.meta.url);
      const memory = startWorkerMemory({ ...place, env: {}, workerUrl });
      return { forget: forgetIn(memory), close: () => memory.close() };
    },
  },
  {
    ...{ name: "the pack", ...MAIN },
    open: async ({ memory }) => {
      const { packs } = contextOf(memory);
      return {
        forget: (scope, dry_run = false) =>
          outcomeOf(async () => {
            const run = { pack: "helmdeck.memory_forget", caller: "main", authenticated: true };
            return { data: fieldsOf((await packs.run({ ...run, input: { scope, dry_run } })).output) };
          }),
      };
    },
  },
  { name: "REST", ...UNKNOWN, open: overRest("/api/v1/memory/forget", (body) => body) },
  {
    ...{ name: "the pack over REST", ...UNKNOWN },
    open: overRest("/api/v1/packs/helmdeck.memory_forget", (body) => fieldsOf(body.output)),
  },
  { name: "MCP", ...MAIN, open: overMcp("helmdeck__memory_forget") },
  { name: "MCP by the tool's old name", ...MAIN, open: overMcp("helmdeck.memory_forget") },
  {
    ...{ name: "the agent's tool", ...MAIN },
    open: async ({ memory }) => {
      const parts = { access: accessTo(memory), policy: policyFor(), log: recordingLogger() };
      const tool = makeForgetTool(parts, MAIN_CONTEXT);
      return {
        forget: (scope, dry_run = false) =>
          outcomeOf(async () => {
            const { content, details } = await tool.execute("call", { scope, dry_run });
            return { data: fieldsOf(details), words: JSON.stringify(content) };
          }),
      };
    },
  },
  { name: "helmdeck-memory", ...MAIN, open: inScript(helmdeckMemory) },
  { name: "helmdeck-memory --json", ...MAIN, open: inScript(helmdeckMemory, "--json") },
  { name: "openclaw helmdeck", ...MAIN, open: inScript(openclawHelmdeck) },
  { name: "openclaw helmdeck --json", ...MAIN, open: inScript(openclawHelmdeck, "--json") },
];

function forgetIn(memory: Memory): Forget {
  return (scope, dryRun = false) =>
    outcomeOf(async () => ({ data: fieldsOf(await memory.forget("main", { scope, dryRun })) }));
}

function overRest(
  path: string,
  answerIn: (body: Record<string, unknown>) => Record<string, unknown>,
): ForgetSurface["open"] {
  return async ({ memory }) => {
    const { app } = createServer(contextOf(memory), { requestsPerMinute: 0 });
    return {
      forget: async (scope, dry_run = false) => {
        const answer = await app.request(path, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ scope, dry_run }),
        });
        const body = fieldsOf(await answer.json());
        return answer.status === 200
          ? { data: answerIn(body) }
          : { refusal: `${body.error}: ${body.message}` };
      },
    };
  };
}

function overMcp(tool: string): ForgetSurface["open"] {
  return async ({ memory }) => {
    const client = await mcpClientOf(contextOf(memory), "main");
    return {
      forget: async (scope, dry_run = false) => {
        const result = (await client.callTool({
          name: tool,
          arguments: { scope, dry_run },
        })) as CallToolResult; // the call requested no task
        const words = result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
        return result.isError === true
          ? { refusal: words }
          : { data: fieldsOf(result.structuredContent), words };
      },
      close: () => client.close(),
    };
  };
}

type Script = (place: StorageLocation, args: readonly string[]) => Promise<Seen>;

function inScript(run: Script, ...flags: readonly string[]): ForgetSurface["open"] {
  return async ({ place }) => ({
    forget: async (scope, dryRun = false) => {
      const how = [...flags, dryRun ? "--dry-run" : "--yes"];
      const { code, stdout, stderr } = await run(place, ["forget", ...how, "--", scope]);
      if (code !== 0) return { refusal: stdout + stderr };
      return flags.includes("--json") ? { data: JSON.parse(stdout) } : { words: stdout + stderr };
    },
  });
}

function contextOf(memory: Memory) {
  return testServerContext({ memory, packs: [memoryPack("forget", memory)] });
}

async function outcomeOf(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (isHelmdeckError(error)) return { refusal: `${error.code}: ${error.message}` };
    if (error instanceof Error) return { refusal: error.message };
    throw error;
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return { ...Object(value) };
}
