/** Creates a server from a server context: its request handling, with or without a socket. */
import pino, { type Logger } from "pino";
import { type Audit, THIS_PROCESS } from "../app/audit-log.ts";
import type { LimitsByCaller } from "../app/quota.ts";
import { defined } from "../engine/defined.ts";
import type { ShareLimits } from "../engine/fair-share.ts";
import manifest from "../package.json" with { type: "json" };
import type { ServerContext } from "../packs/server-context.ts";
import { makeApp, type ServerApp } from "./app.ts";
import { type TokenListener, Tokens } from "./authentication.ts";
import { CallerCounts } from "./caller-counts.ts";
import { IN_FLIGHT_LIMITS, makeRateLimits } from "./guards/rate.ts";
import { listen, type Socketed, type SocketOptions } from "./listening.ts";
import { type Metrics, makeMetrics } from "./metrics.ts";
import type { Mount } from "./mount.ts";
import { hashedName } from "./observing.ts";
import type { PagesSettings } from "./pages/add-pages.ts";
import { hasSessionCookie } from "./pages/page-sessions.ts";
import { type RulesReader, rulesOf } from "./token-files.ts";

const DEFAULT_PORT = 3_848;
const DEFAULT_HOST = "127.0.0.1";
/** A hundred per second for each caller. */
const DEFAULT_REQUESTS_PER_MINUTE = 6_000;
/** Time for accepted requests to finish when the server stops. */
const GRACE_MS = 10_000;

/** What can be changed while a server runs. */
export interface LiveSettings {
  /** Host names that clients use, in addition to the loopback names. */
  readonly allowedHosts?: readonly string[];
  /** Allowed browser origins; none by default. */
  readonly allowedOrigins?: readonly string[];
  /** Per caller, and per address without a caller. 0: no limit. Default 6,000. */
  readonly requestsPerMinute?: number;
  /** Of single callers: here only their rates; what they may store is the store's. */
  readonly callerLimits?: LimitsByCaller;
  /** Request lines tell callers apart by keyed hashes of their subjects. */
  readonly logsCallers?: boolean;
}

export interface ServerOptions extends LiveSettings {
  /**
   * Raw bytes, at least 32, or what reads secrets and revocations: it is called again while requests come, at most once a second.
   * Absent: no authentication, every caller is `unknown`, and loopback only.
   */
  readonly secret?: Uint8Array | RulesReader;
  /** Concurrent requests; default 256 per caller, 384 in total. */
  readonly inFlight?: ShareLimits;
  readonly mounts?: readonly Mount[];
  /** The address that clients use if a proxy is in front of the server: `https://deck.example`, or with a path. */
  readonly publicOrigin?: string;
  /** The "Agent memory" pages at `/`. Absent: no pages. */
  readonly pages?: PagesSettings;
  /** Default: nothing is logged. */
  readonly log?: Logger;
  readonly now?: () => number;
  /** Called for every unexpected error, whatever its status. */
  readonly onUnexpected?: (error: unknown) => void;
}

interface ListenOptions extends Pick<SocketOptions, "limits"> {
  readonly host?: string;
  readonly port?: number;
  /** Default 10 s. */
  readonly graceMs?: number;
}

export interface Listening extends Pick<Socketed, "address" | "port" | "url"> {
  /** Finishes accepted requests within the grace period. The owner closes the server context. Idempotent. */
  close(): Promise<void>;
}

export interface HelmdeckServer {
  /** For tests without a socket: `app.request()`. */
  readonly app: ServerApp;
  listen(options?: ListenOptions): Promise<Listening>;
  /** From now on /readyz says no and answers ask for new connections, while everything is still served. */
  drain(): void;
  /** For the requests that follow. What is left out gets its default. */
  change(settings: LiveSettings): void;
}

export function createServer(serverContext: ServerContext, options: ServerOptions = {}): HelmdeckServer {
  const { secret, mounts = [], publicOrigin, pages, onUnexpected } = options;
  let live: LiveSettings = options;
  const metrics = makeMetrics(serverContext);
  const limits = makeRateLimits(
    (caller) =>
      live.callerLimits?.get(caller ?? "")?.rate ?? live.requestsPerMinute ?? DEFAULT_REQUESTS_PER_MINUTE,
  );
  const log = options.log ?? pino({ enabled: false });
  const now = options.now ?? Date.now;
  const tokens = secret && new Tokens(readerOf(secret), now, listenerOf(metrics, log, serverContext.audit));
  const publicHost = publicOrigin === undefined ? [] : [new URL(publicOrigin).hostname];
  let stopping = false;
  const app = makeApp({
    serverContext,
    version: manifest.version,
    ...defined({ tokens, publicOrigin, pages }),
    hostRules: () => ({
      allowedHosts: [...(live.allowedHosts ?? []), ...publicHost],
      allowedOrigins: live.allowedOrigins ?? [],
    }),
    limits,
    inFlight: options.inFlight ?? IN_FLIGHT_LIMITS,
    mounts,
    metrics,
    counts: new CallerCounts(now),
    log,
    callerName: (subject) => {
      const signing = live.logsCallers === true ? tokens?.secrets[0] : undefined;
      return signing && hashedName(signing, subject);
    },
    now,
    isStopping: () => stopping,
    ...defined({ onUnexpected }),
  });
  return {
    app,
    drain: () => {
      stopping = true;
    },
    change: (settings) => {
      live = settings;
    },
    listen: async (asked = {}) => {
      const { host = DEFAULT_HOST, port = DEFAULT_PORT, graceMs = GRACE_MS, limits: sockets } = asked;
      const hasAuthentication = secret !== undefined;
      const socketed = await listen(app, {
        ...{ host, port, hasAuthentication },
        ...defined({ limits: sockets }),
        refusalOf: ({ headers, socket }) =>
          hasAuthentication && headers.authorization === undefined && !hasSessionCookie(headers.cookie)
            ? limits.refusalOf(socket.remoteAddress)
            : undefined,
      });
      metrics.watchProcess(socketed.countConnections);
      let closing: Promise<void> | undefined;
      const { address, url } = socketed;
      return {
        ...{ address, port: socketed.port, url },
        close: () => {
          stopping = true;
          closing ??= closeAll(mounts, () => socketed.stop(graceMs));
          return closing;
        },
      };
    },
  };
}

function readerOf(secret: NonNullable<ServerOptions["secret"]>): RulesReader {
  if (typeof secret === "function") return secret;
  const rules = rulesOf(secret);
  return async () => rules;
}

function listenerOf(metrics: Metrics, log: Logger, audit: Audit | undefined): TokenListener {
  return {
    used: metrics.tokenUsed,
    changed: (action, object) => void audit?.({ action, outcome: "done", actor: THIS_PROCESS, object }),
    failedToRead: ({ code, message }) =>
      log.error(
        { code, problem: message },
        "secrets or revocations cannot be taken as they are; what was read before holds",
      ),
  };
}

/** Event streams never end by themselves, so they are closed first. */
async function closeAll(mounts: readonly Mount[], stop: () => Promise<void>): Promise<void> {
  const stopped = stop();
  await Promise.allSettled(mounts.map((mount) => mount.close?.()));
  await stopped;
}
