/** What the test files use of their set-up: the packed plugin, and the shared gateway. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { build } from "esbuild";
import { afterAll, inject, vi } from "vitest";
import { DIST } from "../../scripts/build/build.ts";
import {
  type CommandResult,
  type Json,
  type JsonObject,
  OpenClawClient,
  type ToolReply,
} from "../../scripts/openclaw-host/openclaw-host.ts";
import { readOutcome, type SetUp } from "./set-up.ts";
import { type ModelRequest, scriptFor, textOf } from "./stand-in-model.ts";

/** Installing another OpenClaw downloads 900 MB. */
const SET_UP_WITHIN_MS = 600_000;
/** The other files that use the gateway take a minute or two each. */
const TURN_OF_FILE_WITHIN_MS = 600_000;
const LOOK_AGAIN_MS = 100;
const TURN_WITHIN_MS = 90_000;
const PATCH_WITHIN_MS = 60_000;

/** Waits until this project's set-up has ended. */
export async function resultOfSetUp(): Promise<SetUp> {
  const file = inject("setUpFile");
  const outcome = await vi.waitFor(() => readOutcome(file), {
    timeout: SET_UP_WITHIN_MS,
    interval: LOOK_AGAIN_MS,
  });
  if ("failure" in outcome) throw new Error(`the set-up failed: ${outcome.failure}`);
  return outcome.setUp;
}

type Gateway = NonNullable<SetUp["gateway"]>;

let ours: Promise<Gateway> | undefined;

/**
 * The gateway that setup.ts started, for one test file at a time. OpenClaw keeps one agent's database open at a time and waits at
 * most five seconds for its state database. On a busy machine, concurrent turns and `openclaw` commands of several agents fail with
 * "Agent database cleanup failed" or "database is locked", and so do that agent's next turns.
 */
export function sharedGateway(): Promise<Gateway> {
  ours ??= takeTurn();
  return ours;
}

/** The turn begins with an empty memory of the agent `main`, and ends with the file, also if its process is killed. */
async function takeTurn(): Promise<Gateway> {
  const { gateway } = await resultOfSetUp();
  if (gateway === undefined) throw new Error("these tests start their own gateways");
  const turn = new DatabaseSync(`${inject("setUpFile")}.turn`);
  afterAll(() => turn.close());
  const wait = { timeout: TURN_OF_FILE_WITHIN_MS, interval: LOOK_AGAIN_MS };
  await vi.waitFor(() => turn.exec("BEGIN EXCLUSIVE"), wait);
  const emptied = await helmdeckMemory(clientOf(gateway), "forget", "everything", "--yes");
  if (emptied.code !== 0) throw new Error(`the memory was not emptied: ${emptied.stderr}`);
  return gateway;
}

/** A client of the shared gateway. Its commands end with the test that waits for them. */
export async function sharedOpenClaw(): Promise<OpenClawClient> {
  return clientOf(await sharedGateway());
}

function clientOf({ home }: Gateway): OpenClawClient {
  return new OpenClawClient(home, {
    spawn: (command: string, args: readonly string[], options: SpawnOptions): ChildProcess =>
      spawn(command, args, options),
  });
}

export interface Hit {
  readonly corpus: string;
  readonly path: string;
  readonly score: number;
  readonly snippet: string;
  readonly id?: string;
  readonly citation?: string;
  readonly provenanceLabel?: string;
}

/** The hits of a memory_search reply, as the caller sees them. */
export function hitsOf(reply: ToolReply): readonly Hit[] {
  const { results } = reply.details;
  if (!Array.isArray(results)) throw new Error(`memory_search gave no results: ${JSON.stringify(reply)}`);
  return results as unknown as readonly Hit[]; // the tests compare each field that they read
}

export function pathsOf(reply: ToolReply, corpus: string): readonly string[] {
  return hitsOf(reply)
    .filter((hit) => hit.corpus === corpus)
    .map((hit) => hit.path);
}

/** The member of a JSON object, or undefined for anything else. */
export function member(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (value as JsonObject)[name]; // neither null nor an array
}

export interface Turn {
  /** The agent's final answer. */
  readonly text: string;
}

/** On a slow machine OpenClaw may clean up an agent's idle database when a turn begins; if that fails, so does the turn. */
const OPENCLAWS_OWN_FAILURE = "Agent database cleanup failed";

/**
 * Runs one agent turn to its end, and once more after OpenClaw's own failure. If it fails otherwise, throws with everything that
 * OpenClaw reports about it.
 */
export async function agentTurn(
  openclaw: OpenClawClient,
  turn: { readonly message: string; readonly sessionKey: string; readonly agentId?: string },
): Promise<Turn> {
  const say = async (): Promise<Turn> => {
    const asked = { agentId: "main", ...turn, deliver: false, idempotencyKey: randomUUID() };
    const accepted = await openclaw.rpc("agent", asked);
    return endOfRun(openclaw, String(member(accepted, "runId")));
  };
  return say().catch((error: unknown) => {
    if (error instanceof Error && error.message.includes(`"error":"${OPENCLAWS_OWN_FAILURE}"`)) return say();
    throw error;
  });
}

/** Waits for a running turn, such as a sub-agent's. Throws like {@link agentTurn}. */
export async function endOfRun(openclaw: OpenClawClient, runId: string): Promise<Turn> {
  const params = { runId, timeoutMs: TURN_WITHIN_MS };
  const ended = await openclaw.rpc("agent.wait", params, { timeoutMs: TURN_WITHIN_MS + 10_000 });
  const text = member(member(ended, "terminalReply"), "text");
  if (member(ended, "status") === "ok" && typeof text === "string") return { text };
  const log = await openclaw.logTail();
  throw new Error(
    `the turn did not go well: ${JSON.stringify(ended)}\nThe end of the gateway's log:\n${log}`,
  );
}

/** A sub-agent, in the form that OpenClaw's tool reports. */
export interface SubAgent {
  readonly sessionKey: string;
  readonly runId: string;
}

/** Makes the agent start a sub-agent from a session. `how` contains more arguments of the tool. */
export async function spawnSubAgent(
  openclaw: OpenClawClient,
  sessionKey: string,
  task: string,
  how: JsonObject = {},
): Promise<SubAgent> {
  const args = { task, expectsCompletionMessage: false, ...how };
  const message = scriptFor("Have it done.", [{ tool: "sessions_spawn", args }]);
  return subAgentIn((await agentTurn(openclaw, { sessionKey, message })).text);
}

/** Reads the sub-agent from the tool's answer, which reaches the test as JSON inside JSON. */
export function subAgentIn(text: string): SubAgent {
  const [, sessionKey] = /childSessionKey[\\": ]+(agent:[\w:-]+)/.exec(text) ?? [];
  const [, runId] = /runId[\\": ]+([\w-]+)/.exec(text) ?? [];
  if (sessionKey === undefined || runId === undefined) throw new Error(`no sub-agent was started: ${text}`);
  return { sessionKey, runId };
}

/** The system prompt of the latest request to the stand-in model whose messages contain the text. */
export async function promptOf(text: string): Promise<string> {
  const { messages } = await requestAbout(text);
  return messages
    .filter(({ role }) => role === "system" || role === "developer")
    .map(textOf)
    .join("\n");
}

/** The person's message in the latest request to the stand-in model that contains the text, with what was added to it. */
export async function messageWith(text: string): Promise<string> {
  const { messages } = await requestAbout(text);
  return messages.map(textOf).findLast((message) => message.includes(text)) ?? "";
}

async function requestAbout(text: string): Promise<ModelRequest> {
  const { modelUrl } = await sharedGateway();
  const response = await fetch(`${modelUrl}/requests`);
  const requests = (await response.json()) as readonly ModelRequest[]; // the stand-in recorded these requests itself
  const asked = requests.findLast(({ messages }) =>
    messages.some((message) => textOf(message).includes(text)),
  );
  if (asked === undefined) throw new Error(`the model was not asked about: ${text}`);
  return asked;
}

/** Runs the built command `helmdeck-memory` in the gateway's environment, and so by default with the same database. */
export function helmdeckMemory(openclaw: OpenClawClient, ...args: readonly string[]): Promise<CommandResult> {
  return openclaw.run(process.execPath, [join(DIST, "helmdeck-memory.mjs"), ...args]);
}

/** Applies a JSON merge patch to the gateway's configuration, and returns when it has taken effect. Only lists in `replacePaths` may shrink. */
export async function patchConfig(
  openclaw: OpenClawClient,
  patch: JsonObject,
  replacePaths: readonly string[] = [],
): Promise<void> {
  const baseHash = member(await openclaw.rpc("config.get"), "hash") ?? null;
  const params = { raw: JSON.stringify(patch), baseHash, replacePaths };
  await openclaw.rpc("config.patch", params, { timeoutMs: PATCH_WITHIN_MS });
}

/** Turns the plugin off meanwhile, so that nothing has its files open. */
export async function whilePluginIsOff<T>(openclaw: OpenClawClient, work: () => Promise<T>): Promise<T> {
  const enable = (enabled: boolean) =>
    patchConfig(openclaw, { plugins: { entries: { "helmdeck-memory": { enabled } } } });
  await enable(false);
  try {
    return await work();
  } finally {
    await enable(true);
  }
}

/** The worker of the installed plugin. */
export function workerFileOf({ home }: OpenClawClient): string {
  const [installed = ""] = globSync(
    join(home.stateDir, "npm/projects/*/node_modules/@helmdeck/helmdeck-memory"),
  );
  return join(installed, "dist", "worker.js");
}

/** Replaces the worker of the installed plugin by faulty-worker.ts. */
export async function installFaultyWorker(openclaw: OpenClawClient): Promise<void> {
  await whilePluginIsOff(openclaw, () =>
    build({
      entryPoints: [join(import.meta.dirname, "faulty-worker.ts")],
      outfile: workerFileOf(openclaw),
      ...{ bundle: true, format: "esm", platform: "node", allowOverwrite: true },
    }),
  );
}
