/**
 * The open MCP sessions of the HTTP endpoint: whose they are, when they end, how many there may be.
 *
 * The attacker here is a caller with a valid token of their own and somebody else's session id, from a log or a shared screen.
 * A session serves only the caller that opened it; to anybody else it looks as if there were none. Whoever opens sessions
 * without end pays for it alone: beyond the caller's share their own longest-idle session makes room, nobody else's, however
 * many callers do so together. Every request is authenticated anew, and an event stream cannot outlive its token for longer than
 * a session may be idle.
 */
import { randomUUID } from "node:crypto";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { countByCaller, hasRoom, type ShareLimits, within } from "../../app/index.ts";
import type { Caller } from "../caller.ts";
import { createMcpServer } from "./mcp-server.ts";
import type { McpService } from "./mcp-service.ts";
import { MissedUpdates } from "./missed-updates.ts";
import { Outstanding } from "./outstanding.ts";

export interface SessionLimits extends ShareLimits {
  /** A session that nothing was heard of and that has nothing open ends after so long. */
  readonly idleMs: number;
}

export class McpSession {
  readonly id = randomUUID();
  readonly caller: Caller;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly outstanding: Outstanding;
  readonly missed: MissedUpdates;
  readonly server: Server;
  lastSeenAt: number;
  /** Something came for it after it was opened. */
  isUsed = false;
  /** Responses that are still being written, event streams above all. */
  openResponses = 0;

  constructor(service: McpService, caller: Caller, now: number) {
    this.caller = caller;
    this.lastSeenAt = now;
    this.transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => this.id });
    this.outstanding = new Outstanding(this.transport, (id) => {
      // Nothing more comes for it, so its stream would stay open for as long as the client; others may share the stream.
      void this.outstanding.settled().then(() => this.transport.closeSSEStream(id));
    });
    this.missed = new MissedUpdates(this.transport);
    this.server = createMcpServer(service, caller);
  }

  get isBusy(): boolean {
    return this.openResponses > 0 || this.outstanding.count > 0;
  }

  isOf({ subject, authenticated }: Caller): boolean {
    return this.caller.subject === subject && this.caller.authenticated === authenticated;
  }
}

export class McpSessions {
  readonly #service: McpService;
  readonly #limits: SessionLimits;
  readonly #now: () => number;
  readonly #sessions = new Map<string, McpSession>();

  constructor(service: McpService, limits: SessionLimits, now: () => number) {
    this.#service = service;
    this.#limits = limits;
    this.#now = now;
  }

  get count(): number {
    return this.#sessions.size;
  }

  /** Undefined when there is none, or it is another caller's. */
  find(id: string, caller: Caller): McpSession | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || !session.isOf(caller)) return undefined;
    session.lastSeenAt = this.#now();
    session.isUsed = true;
    return session;
  }

  /** Undefined when the caller has its share and none of it is idle. */
  async open(caller: Caller): Promise<McpSession | undefined> {
    if (!this.#makeRoomFor(caller)) return undefined;
    const session = new McpSession(this.#service, caller, this.#now());
    this.#sessions.set(session.id, session);
    // Before `connect`, which keeps what is set here: a DELETE closes the transport.
    session.transport.onclose = () => this.#sessions.delete(session.id);
    await session.server.connect(session.transport);
    return session;
  }

  /**
   * Ends the sessions that nothing was heard of for too long. One with an open event stream loses that first: its client opens
   * it anew, and must show a token that is still good.
   */
  endIdle(): void {
    const idleSince = this.#now() - this.#limits.idleMs;
    for (const session of this.#all()) {
      if (session.lastSeenAt > idleSince || session.outstanding.count > 0) continue;
      if (session.isBusy) session.transport.closeStandaloneSSEStream();
      else endNow(session);
    }
  }

  /** Waits for the answers that callers wait for, but no longer than the grace, then ends every session. */
  async close(graceMs: number): Promise<void> {
    const settled = Promise.all(this.#all().map(({ outstanding }) => outstanding.settled()));
    await within(graceMs, settled, () => undefined);
    await Promise.all(this.#all().map(({ server }) => server.close()));
  }

  #makeRoomFor(caller: Caller): boolean {
    const held = countByCaller(this.#all().map((session) => session.caller.subject));
    if (hasRoom(caller.subject, held, this.#limits)) return true;
    return endLongestIdle(this.#all().filter((session) => session.isOf(caller)));
  }

  #all(): McpSession[] {
    return [...this.#sessions.values()];
  }
}

/** One that was opened and never used goes before any that was: without tokens, all clients are one caller. */
function endLongestIdle(sessions: readonly McpSession[]): boolean {
  const [longest] = sessions
    .filter(({ isBusy }) => !isBusy)
    .sort((a, b) => Number(a.isUsed) - Number(b.isUsed) || a.lastSeenAt - b.lastSeenAt);
  if (longest !== undefined) endNow(longest);
  return longest !== undefined;
}

/** It is out of the list at once; nothing of it is left to wait for. */
function endNow(session: McpSession): void {
  void session.server.close().catch(() => {});
}
