/** `serve`: serves REST, MCP and pages until a signal, and prints the address, the memory and the authentication. */

import type { Writable } from "node:stream";
import pino, { type Logger } from "pino";
import { embedStoredEntries } from "../../app/embedding/on-request.ts";
import { remedyFor } from "../../app/health/remedies.ts";
import type { MemoryState } from "../../app/memory-state.ts";
import type { CommandContext } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { openServerContext, type ServerContext } from "../../packs/server-context.ts";
import { createServer, type Listening } from "../../server/create-server.ts";
import { mcpMount } from "../../server/mcp/mcp-over-http.ts";
import { loadTokenRules, type TokenRules } from "../../server/token-files.ts";
import { serverContextOptions } from "../memory-options.ts";

export interface ServeRequest {
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Absent: the server has no pages. */
  readonly pages?: { readonly publicOrigin?: string };
  /** 0: no limit. */
  readonly requestsPerMinute: number;
  /** Refuse to start if memory would not persist. */
  readonly requiresMemory: boolean;
  /** What indexes may take of memory; absent: as much as is usual. */
  readonly indexMemoryMib?: number;
  /** The operator's own packs and pipelines. */
  readonly folders: { readonly packsFolder?: string; readonly pipelinesFolder?: string };
  readonly logLevel: string;
}

export async function serveCommand(context: CommandContext, request: ServeRequest): Promise<number> {
  const stopped = stopSignal();
  const lines = new LogLines(context.shell.stderr);
  const log = logger(lines, request.logLevel);
  const rules = await loadTokenRules(context.shell.env);
  const serverContext = await openServerContext({
    ...(await serverContextOptions(context)),
    withoutKey: "ephemeral",
    ...(request.indexMemoryMib && { indexes: { limitBytes: request.indexMemoryMib * 2 ** 20 } }),
    ...request.folders,
    onChange: (lost) => noteAvailability(log, lost),
    onTrouble: ({ what, error, pack }) =>
      log.error({ what, code: error.code, problem: error.message, pack }, "failure after a run"),
  });
  try {
    if (request.requiresMemory) requireKept(serverContext);
    const security = { log, ...(rules && { secret: rulesReader(context, rules) }) };
    const listening = await listen(serverContext, request, security, () => workspacesOf(context));
    await sayWhatIsServed(context, serverContext, {
      url: listening.url,
      pagesUrl: request.pages && `${request.pages.publicOrigin ?? hereOf(listening.url)}/`,
      authentication: rules?.source,
    });
    void embedStoredEntries(serverContext.memory);
    const signal = await stopped;
    log.info({ signal }, "stopping: finishing accepted requests; a second signal ends at once");
    await listening.close();
  } finally {
    await serverContext.close();
  }
  log.info("stopped");
  lines.flush();
  return EXIT_DONE;
}

/** An address that listens everywhere is no name that a browser can use. */
function hereOf(url: string): string {
  return url.replace(/^http:\/\/(0\.0\.0\.0|\[::\]):/, "http://localhost:");
}

/** Reads them again, since their files may have changed; whether there are any stays as it was at the start. */
function rulesReader({ shell }: CommandContext, first: TokenRules): () => Promise<TokenRules> {
  return async () => (await loadTokenRules(shell.env)) ?? first;
}

/** A second SIGINT or SIGTERM ends the process at once. A closed terminal may send SIGHUP twice, so that one stays caught. */
function stopSignal(): Promise<NodeJS.Signals> {
  const signals = ["SIGINT", "SIGTERM"] as const;
  return new Promise((resolve) => {
    const onSignal = (signal: NodeJS.Signals) => {
      for (const name of signals) process.off(name, onSignal);
      resolve(signal);
    };
    for (const name of [...signals, "SIGHUP"]) process.on(name, onSignal);
  });
}

function logger(lines: LogLines, level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, lines);
}

async function workspacesOf(context: CommandContext): Promise<readonly string[]> {
  return (await context.line.openClaw(context)).workspaces.map(({ path }) => path);
}

function listen(
  serverContext: ServerContext,
  request: ServeRequest,
  security: { readonly log: Logger; readonly secret?: () => Promise<TokenRules> },
  workspaces: () => Promise<readonly string[]>,
): Promise<Listening> {
  const { allowedHosts, allowedOrigins, pages, requestsPerMinute, host, port } = request;
  const server = createServer(serverContext, {
    ...security,
    // A server that listens on a specific address also accepts that address as Host.
    allowedHosts: [...allowedHosts, ...(host === "0.0.0.0" || host === "::" ? [] : [host])],
    allowedOrigins,
    requestsPerMinute,
    ...(pages && { pages: { ...pages, workspaces } }),
    mounts: [mcpMount(serverContext, { onFailure: (error) => noteToolFailure(security.log, error) })],
  });
  return server.listen({ host, port });
}

/** Tools answer every failure themselves, so the server does not see these errors. */
function noteToolFailure(log: Logger, { code, message }: HelmdeckError): void {
  if (code === "internal") log.error({ problem: message }, "unexpected error in a tool");
  else log.warn({ code, problem: message }, "a tool failed");
}

/** Each loss and each return has one line. */
function noteAvailability(log: Logger, lost: HelmdeckError | undefined): void {
  if (lost === undefined) log.warn("memory is back");
  else log.warn({ code: lost.code, problem: lost.message }, "memory is lost; waiting until it is back");
}

function requireKept({ memoryState }: ServerContext): void {
  if (memoryState.state === "ready") return;
  const why = memoryState.state === "ephemeral" ? memoryState.warning : memoryState.error.message;
  throw new HelmdeckError(
    "memory_unavailable",
    `Not started, because of --require-memory: ${why}`,
    memoryState.state === "unavailable"
      ? { cause: memoryState.error, details: { reason: memoryState.error.code } }
      : {},
  );
}

interface Served {
  readonly url: string;
  readonly pagesUrl: string | undefined;
  /** The source of the secret. */
  readonly authentication: string | undefined;
}

async function sayWhatIsServed(
  { output, options }: CommandContext,
  { memoryState }: ServerContext,
  served: Served,
): Promise<void> {
  if (options.json) await output.json(servedReply(memoryState, served));
  else for (const line of servedLines(memoryState, served)) await output.line(line);
  if (memoryState.state === "ephemeral") await output.note(`warning: ${memoryState.warning}`);
  if (memoryState.state === "unavailable") {
    const { code, message } = memoryState.error;
    await output.note(`${output.styledNote("red", `${code}:`)} ${harmlessLine(message)} ${remedyFor(code)}`);
  }
}

function servedReply(memoryState: MemoryState, { url, pagesUrl, authentication }: Served) {
  const kept = memoryState.state === "ready" ? memoryState : undefined;
  return {
    url,
    pages: pagesUrl ?? null,
    memory: memoryState.state,
    database: kept?.databasePath ?? null,
    key_source: kept?.keySource ?? null,
    authentication: authentication ?? null,
    ...defined({ notice: kept?.notice }),
  };
}

function servedLines(memoryState: MemoryState, { url, pagesUrl, authentication }: Served): readonly string[] {
  const callers =
    authentication === undefined
      ? 'no authentication, every caller is "unknown"'
      : `authentication by ${harmlessLine(authentication)}`;
  return [
    `helmdeck-memory serves ${url} · ${memoryWords(memoryState)} · ${callers}`,
    ...(pagesUrl === undefined ? [] : [`Open the Agent memory pages in a browser: ${pagesUrl}`]),
    ...(memoryState.state === "ready" && memoryState.notice !== undefined
      ? [`Memory: ${harmlessLine(memoryState.notice)}`]
      : []),
  ];
}

function memoryWords(memoryState: MemoryState): string {
  if (memoryState.state !== "ready") {
    return `memory ${memoryState.state === "ephemeral" ? "EPHEMERAL" : "OFF"}`;
  }
  const { databasePath, keySource } = memoryState;
  return `memory on, database ${harmlessLine(databasePath)}, key from ${harmlessLine(keySource)}`;
}

/** Buffers log lines and writes all lines of one turn of the event loop at once, because a write costs more than a line. */
class LogLines {
  readonly #stream: Writable;
  #waiting = "";

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  write(line: string): void {
    if (this.#waiting === "") setImmediate(() => this.flush());
    this.#waiting += line;
  }

  /** Also writes the lines buffered in this turn. */
  flush(): void {
    if (this.#waiting === "") return;
    this.#stream.write(this.#waiting);
    this.#waiting = "";
  }
}
