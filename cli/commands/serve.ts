/** `serve`: serves REST, MCP and pages until a signal, and prints the address, the memory and the authentication. */

import { closeSync, openSync } from "node:fs";
import type { Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { Command } from "commander";
import pino, { type Logger } from "pino";
import { type Audit, type AuditEvent, failed, openAuditFile, THIS_PROCESS } from "../../app/audit-log.ts";
import { embedStoredEntries } from "../../app/embedding/on-request.ts";
import { remedyFor } from "../../app/health/remedies.ts";
import type { MemoryState } from "../../app/memory-state.ts";
import type { LimitsByCaller } from "../../app/quota.ts";
import type { CommandContext } from "../../commands/command-line.ts";
import { EXIT_DONE } from "../../commands/exit-codes.ts";
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import manifest from "../../package.json" with { type: "json" };
import { openServerContext, type ServerContext } from "../../packs/server-context.ts";
import { createServer, type HelmdeckServer, type LiveSettings } from "../../server/create-server.ts";
import { mcpMount } from "../../server/mcp/mcp-over-http.ts";
import { hashedName } from "../../server/observing.ts";
import { loadTokenRules, type RulesReader, type TokenRules } from "../../server/token-files.ts";
import { serverContextOptions } from "../memory-options.ts";
import { readServeSettings, type ServeSettings } from "../read-serve-settings.ts";
import { type LimitedCaller, SERVE_SETTINGS } from "../serve-settings.ts";

interface ServeRequest extends LiveSettings {
  readonly host: string;
  readonly port: number;
  readonly publicOrigin?: string;
  readonly hasPages: boolean;
  /** MCP lists packs and pipelines, too. */
  readonly hasPacks: boolean;
  /** Refuse to start if memory would not persist. */
  readonly requiresMemory: boolean;
  /** What indexes may take of memory. */
  readonly indexMemoryMib: number;
  /** The operator's own packs and pipelines. */
  readonly folders: { readonly packsFolder?: string; readonly pipelinesFolder?: string };
  readonly logLevel: string;
  readonly callerLimits: LimitsByCaller;
  readonly drainSeconds: number;
}

export async function serveCommand(asked: CommandContext, command: Command): Promise<number> {
  const read = await readServeSettings(asked, command);
  requireUsable(read);
  const { context } = read;
  const request = requestOf(read);
  const signals = new Signals();
  const lines = new LogLines(context.shell.stderr);
  const formatters = { level: (name: string) => ({ level: name }) };
  const shape = { base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters };
  const log = pino({ level: request.logLevel, ...shape }, lines);
  const rules = rulesReader(context, await loadTokenRules(context.shell.env));
  const audit = await openAuditLog(context, log, rules);
  const { version } = manifest;
  const notStarted = async (error: unknown): Promise<never> => {
    const object = { address: `${request.host}:${request.port}`, version };
    await audit({ action: "engine_started", ...failed(error), actor: THIS_PROCESS, object });
    throw error;
  };
  let { callerLimits } = request;
  const serverContext = await openServerContext({
    ...(await serverContextOptions(context)),
    ...{ withoutKey: "ephemeral", audit },
    indexes: { limitBytes: request.indexMemoryMib * 2 ** 20 },
    limits: () => callerLimits,
    ...request.folders,
    onChange: (lost) => {
      if (lost === undefined) log.warn("memory is back");
      else log.warn({ code: lost.code, problem: lost.message }, "memory is lost; waiting until it is back");
    },
    onTrouble: ({ what, error, pack }) =>
      log.error({ what, code: error.code, problem: error.message, pack }, "failure after a run"),
  }).catch(notStarted);
  try {
    const workspaces = async () => (await context.line.openClaw(context)).workspaces.map(({ path }) => path);
    const { hasPages, hasPacks, ...asIs } = request;
    const server = createServer(serverContext, {
      ...{ log, ...asIs, ...defined({ secret: rules?.read }) },
      ...(hasPages && { pages: { workspaces } }),
      mounts: [mcpMount(serverContext, { memoryOnly: !hasPacks })],
    });
    const start = async () => {
      if (request.requiresMemory) requireKept(serverContext);
      return server.listen(request);
    };
    const listening = await start().catch(notStarted);
    const take = (live: ServeRequest) => {
      callerLimits = live.callerLimits;
      server.change(live);
    };
    const settings = settingsReader(read, () => readServeSettings(asked, command), take, { log, audit });
    signals.onReload(settings.readAgain);
    const { url } = listening;
    // An address that listens everywhere is no name that a browser can use.
    const here = url.replace(/^http:\/\/(0\.0\.0\.0|\[::\]):/, "http://localhost:");
    const pagesUrl = request.hasPages ? `${request.publicOrigin ?? here}/` : undefined;
    const served = { url, pagesUrl, authentication: rules?.current().source };
    lines.begin(() => logStart(log, serverContext, served));
    // To a person at a terminal in words, else as JSON, because the line may go where the log goes.
    const isForProgram = context.options.json || context.shell.stdout.isTTY !== true;
    if (isForProgram) await context.output.json(servedReply(serverContext.memoryState, served));
    else for (const line of servedLines(serverContext.memoryState, served)) await context.output.line(line);
    const object = { address: url.replace("http://", ""), version };
    await audit({ action: "engine_started", outcome: "done", actor: THIS_PROCESS, object });
    let said: Promise<void> | undefined;
    const sayStopped = (signal: NodeJS.Signals) => {
      const actor = { ...THIS_PROCESS, signal };
      said ??= audit({ action: "engine_stopped", outcome: "done", actor, object }).then(() => lines.flush());
      return said;
    };
    signals.onSecond(sayStopped);
    void embedStoredEntries(serverContext.memory);
    const signal = await signals.stopped;
    await drain(server, log, requestOf(settings.current()).drainSeconds);
    log.info({ signal }, "stopping: finishing accepted requests; a second signal ends at once");
    await listening.close();
    await sayStopped(signal);
  } finally {
    await serverContext.close();
    lines.begin();
  }
  log.info("stopped");
  lines.flush();
  return EXIT_DONE;
}

/** Reads them again, since their files may have changed; whether there are any stays as it was at the start. */
function rulesReader({ shell }: CommandContext, first: TokenRules | undefined) {
  if (first === undefined) return undefined;
  let current = first;
  const read: RulesReader = async (former = first) => {
    current = (await loadTokenRules(shell.env, former)) ?? first;
    return current;
  };
  return { read, current: () => current };
}

/** In the log, where callers have hashes for names, and in the file that the operator names. Throws if that cannot be written. */
async function openAuditLog(
  { shell }: CommandContext,
  log: Logger,
  rules: ReturnType<typeof rulesReader>,
): Promise<Audit> {
  // Without secrets, each caller is "unknown".
  const nameOf = (subject: string) =>
    rules === undefined ? subject : hashedName(rules.current().secrets[0], subject);
  const named = ({ action, outcome, code, actor, object }: AuditEvent) => ({
    ...{ action, outcome, ...defined({ code }) },
    actor: actor.kind === "caller" ? { ...actor, name: nameOf(actor.name) } : actor,
    object: object.subject === undefined ? object : { ...object, subject: nameOf(object.subject) },
  });
  const toFile = await openAuditFile(shell, (event, problem) =>
    log.error({ problem, ...named(event) }, "a line of the audit log is not in its file"),
  );
  return async (event) => {
    await toFile?.(event);
    if (event.action === "engine_started" && event.outcome !== "done") return; // the command's one line on stderr says it
    log[event.outcome === "done" ? "info" : "warn"](named(event), "audit");
  };
}

/** Throws `invalid_input` for the first problem. */
function requireUsable({ problems: [first, ...others] }: ServeSettings): void {
  if (first === undefined) return;
  const more = others.length === 0 ? "" : ` ${others.length} more: serve --check-config lists them.`;
  throw new HelmdeckError("invalid_input", `${first.where}: ${first.problem}${more}`);
}

function requestOf({ settings }: ServeSettings): ServeRequest {
  const of = <Type>(name: string) => settings.get(name)?.value as Type; // each setting's rule makes this type
  const host = of<string>("host");
  const ownHost = host === "0.0.0.0" || host === "::" ? [] : [host];
  return {
    host,
    port: of<number>("port"),
    allowedHosts: [...(of<readonly string[] | undefined>("allow-host") ?? []), ...ownHost],
    allowedOrigins: of<readonly string[] | undefined>("allow-origin") ?? [],
    ...defined({ publicOrigin: of<string | undefined>("public-origin") }),
    hasPages: of<boolean>("pages"),
    hasPacks: of<boolean>("packs"),
    requestsPerMinute: of<number>("rate-limit"),
    callerLimits: new Map(
      of<readonly LimitedCaller[] | undefined>("limits")?.map(({ subject, ...limits }) => [subject, limits]),
    ),
    logsCallers: of<boolean>("log-callers"),
    requiresMemory: of<boolean>("require-memory"),
    indexMemoryMib: of<number>("index-memory"),
    folders: defined({
      packsFolder: of<string | undefined>("packs-from"),
      pipelinesFolder: of<string | undefined>("pipelines"),
    }),
    logLevel: of<string>("log-level"),
    drainSeconds: of<number>("drain-seconds"),
  };
}

/** Takes what can be changed while the server runs, and says what cannot. If anything is wrong, nothing changes. */
function settingsReader(
  first: ServeSettings,
  readAnew: () => Promise<ServeSettings>,
  take: (live: ServeRequest) => void,
  { log, audit }: { readonly log: Logger; readonly audit: Audit },
) {
  let current = first;
  const readAgain = async (): Promise<void> => {
    const read = await readAnew();
    const act = { action: "settings_changed", actor: { ...THIS_PROCESS, signal: "SIGHUP" } } as const;
    for (const { where, problem } of read.problems)
      log.error({ where, problem }, "settings are not read again: one of them is wrong");
    if (read.problems.length > 0)
      return audit({ ...act, outcome: "refused", code: "invalid_input", object: {} });
    const isChanged = (before: ServeSettings) => (name: string) =>
      JSON.stringify(before.settings.get(name)?.value) !== JSON.stringify(read.settings.get(name)?.value);
    const { live = [], fixed = [] } = Object.groupBy(Object.entries(SERVE_SETTINGS), ([, { isLive }]) =>
      isLive ? "live" : "fixed",
    );
    const changed = live.map(([name]) => name).filter(isChanged(current));
    const needRestart = fixed.map(([name]) => name).filter(isChanged(first));
    const host = [...first.settings].filter(([name]) => name === "host"); // it listens there until it is restarted
    const request = requestOf({ ...read, settings: new Map([...read.settings, ...host]) });
    log.info({ changed, needRestart }, "settings were read again");
    log.level = request.logLevel;
    take(request);
    current = read;
    if (changed.length > 0)
      await audit({ ...act, outcome: "done", object: { settings: changed, need_restart: needRestart } });
  };
  return { readAgain, current: () => current };
}

/** Lets load balancers see /readyz before connections are refused. */
async function drain(server: HelmdeckServer, log: Logger, seconds: number): Promise<void> {
  if (seconds === 0) return;
  server.drain();
  log.info(
    { seconds },
    "draining: /readyz says no, requests are still answered; a second signal ends at once",
  );
  await setTimeout(seconds * 1_000);
}

/**
 * SIGINT and SIGTERM stop the server; a second one ends the process at once. SIGHUP reads settings again, unless it says that
 * the terminal was closed: then it stops the server, and may come twice.
 */
class Signals {
  readonly stopped: Promise<NodeJS.Signals>;
  readonly #hadTerminal = hasTerminal();
  #reload: (() => Promise<void>) | undefined;
  #second: ((signal: NodeJS.Signals) => Promise<void>) | undefined;
  #reloading: Promise<void> = Promise.resolve();

  constructor() {
    const stopping = ["SIGINT", "SIGTERM"] as const;
    this.stopped = new Promise((resolve) => {
      const stop = (signal: NodeJS.Signals) => {
        for (const name of stopping) process.off(name, stop).off(name, end).on(name, end);
        this.#reload = undefined;
        resolve(signal);
      };
      const end = (signal: NodeJS.Signals) => {
        for (const name of stopping) process.off(name, end); // a third does not wait
        void Promise.resolve(this.#second?.(signal)).finally(() => process.kill(process.pid, signal));
      };
      for (const name of stopping) process.on(name, stop);
      process.on("SIGHUP", (signal) => {
        if (this.#hadTerminal && !hasTerminal()) stop(signal);
        else this.#reloading = this.#reloading.then(() => this.#reload?.());
      });
    });
  }

  /** @param second never throws; the process ends when it is done */
  onSecond(second: (signal: NodeJS.Signals) => Promise<void>): void {
    this.#second = second;
  }

  /** @param reload never throws */
  onReload(reload: () => Promise<void>): void {
    this.#reload = reload;
  }
}

/** Whether the process belongs to a terminal that is open. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
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

function logStart(log: Logger, { memoryState }: ServerContext, served: Served): void {
  log.info(servedReply(memoryState, served), "started");
  if (memoryState.state === "ephemeral") log.warn({ problem: memoryState.warning }, "memory is not kept");
  if (memoryState.state !== "unavailable") return;
  const { code, message } = memoryState.error;
  log.error({ code, problem: message, remedy: remedyFor(code) }, "memory does not open");
}

function servedReply(memoryState: MemoryState, { url, pagesUrl, authentication }: Served) {
  const kept = memoryState.state === "ready" ? memoryState : undefined;
  return {
    ...{ version: manifest.version, node: process.versions.node, url },
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
  #hasBegun = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  write(line: string): void {
    if (this.#waiting === "" && this.#hasBegun) setImmediate(() => this.flush());
    this.#waiting += line;
  }

  /** Puts the lines of `first` before those that were written so far, which wait until now. */
  begin(first: () => void = () => {}): void {
    const early = this.#waiting;
    this.#waiting = "";
    first();
    this.#waiting += early;
    this.flush();
    this.#hasBegun = true;
  }

  /** Also writes the lines buffered in this turn. */
  flush(): void {
    if (this.#waiting === "") return;
    this.#stream.write(this.#waiting);
    this.#waiting = "";
  }
}
