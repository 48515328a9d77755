/**
 * The open MCP sessions of the HTTP endpoint: their callers, expiry and limits.
 *
 * Threat: a caller with a valid token and somebody else's session id, from a log or a shared screen. Defence: a session serves
 * only the caller that opened it, for whom its id is signed; for anybody else it does not exist. A caller who opens too many
 * sessions loses their own longest-idle one, never somebody else's, however many callers do so together. Every request is
 * authenticated, and an event stream outlives its token by at most the idle timeout.
 *
 * Only the memory of a process ends: a session that was idle, or that another engine or an earlier process opened, continues
 * under its id, without its subscriptions. That ends with its client's DELETE, and with the secret that signed the id.
 */
import { createHmac, createSecretKey, hash, type KeyObject, randomUUID } from "node:crypto";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { BoundedMap } from "../../engine/bounded-map.ts";
import { countByCaller, hasRoom, type ShareLimits } from "../../engine/fair-share.ts";
import { within } from "../../engine/timing.ts";
import type { Caller } from "../caller.ts";
import type { MountedRequest } from "../mount.ts";
import { createMcpServer } from "./mcp-server.ts";
import type { McpService } from "./mcp-service.ts";
import { PendingRequests } from "./pending-requests.ts";

const INITIALIZE_AGAIN = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: LATEST_PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: "continued session", version: "" },
  },
};

export interface SessionLimits extends ShareLimits {
  /** A session without requests and without open responses ends after this time. */
  readonly idleMs: number;
}

/** Without a secret, all clients of this machine are one caller, and an id needs no protection. */
const NO_SECRET = createSecretKey(Buffer.from("no secret"));
/** The oldest ones are forgotten: their ids could be used again, by their callers only. */
const MOST_ENDED = 4_096;

type Asking = Pick<MountedRequest, "caller" | "secrets" | "onFailure">;

export class McpSession {
  readonly id: string;
  readonly caller: Caller;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly outstanding: PendingRequests;
  readonly missed: MissedUpdates;
  readonly server: Server;
  lastSeenAt = 0;
  /** A request arrived after the one that opened it. */
  isUsed = false;
  /** Responses that are still being written, mainly event streams. */
  openResponses = 0;
  /** Resolves when requests can come. */
  ready: Promise<unknown> = Promise.resolve();

  constructor(service: McpService, caller: Caller, id: string) {
    this.id = id;
    this.caller = caller;
    this.transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => this.id });
    this.outstanding = new PendingRequests(this.transport, (id) => {
      // No more messages come for it, so its stream would stay open as long as the client does. Other requests may share the stream.
      void this.outstanding.settled().then(() => this.transport.closeSSEStream(id));
    });
    this.missed = new MissedUpdates(this.transport);
    this.server = createMcpServer(service, caller);
  }

  /** Says for the client what it said when the session began elsewhere. Nothing here depends on more of it. */
  async initialize(): Promise<void> {
    const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
    const request = new Request("http://localhost", { method: "POST", headers });
    const answer = await this.transport.handleRequest(request, { parsedBody: INITIALIZE_AGAIN });
    await answer.text();
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
  readonly #ended = new BoundedMap<string, true>(MOST_ENDED);

  constructor(service: McpService, limits: SessionLimits, now: () => number) {
    this.#service = service;
    this.#limits = limits;
    this.#now = now;
  }

  /** Whether the caller opened a session with this id at any engine with the same secret, and did not end it here. */
  isOpen(id: string, { caller, secrets }: Asking): boolean {
    return !this.#ended.has(id) && isSignedFor(id, caller, secrets);
  }

  /** An open session; if this process does not hold it, it continues here. Undefined as for {@link open}. */
  async find(id: string, asking: Asking): Promise<McpSession | undefined> {
    const held = this.#sessions.get(id);
    const session = held ?? this.#add(id, asking);
    if (session === undefined) return undefined;
    if (held === undefined) session.ready = session.ready.then(() => session.initialize());
    session.lastSeenAt = this.#now();
    session.isUsed = true;
    await session.ready;
    return session;
  }

  /** Undefined if the caller has used its share and none of its sessions is idle. */
  async open(asking: Asking): Promise<McpSession | undefined> {
    const session = this.#add(newId(asking), asking);
    await session?.ready;
    return session;
  }

  /** The session's client ended it: it does not continue. */
  noteEnded(id: string): void {
    this.#ended.set(id, true);
  }

  #add(id: string, { caller, onFailure }: Asking): McpSession | undefined {
    if (!this.#makeRoomFor(caller)) return undefined;
    const session = new McpSession({ ...this.#service, onFailure }, caller, id);
    session.lastSeenAt = this.#now();
    this.#sessions.set(id, session);
    // Set before `connect`, which preserves it: a DELETE closes the transport.
    session.transport.onclose = () => this.#sessions.delete(id);
    session.ready = session.server.connect(session.transport);
    return session;
  }

  /**
   * Ends sessions that were idle for too long. A session with an open event stream first loses the stream: its client reopens
   * it, and must present a valid token to do so.
   */
  endIdle(): void {
    const idleSince = this.#now() - this.#limits.idleMs;
    for (const session of this.#all()) {
      if (session.lastSeenAt > idleSince || session.outstanding.count > 0) continue;
      if (session.isBusy) session.transport.closeStandaloneSSEStream();
      else endNow(session);
    }
  }

  /** Waits for outstanding answers, but no longer than the grace period, then ends every session. */
  async close(graceMs: number): Promise<void> {
    const settled = Promise.all(this.#all().map(({ outstanding }) => outstanding.settled()));
    await within(graceMs, settled, () => undefined);
    await Promise.all(this.#all().map(({ server }) => server.close()));
  }

  #makeRoomFor(caller: Caller): boolean {
    const held = countByCaller(this.#all().map((session) => session.caller.subject));
    if (hasRoom(caller.subject, held, this.#limits)) return true;
    // A never-used session is ended before a used one, because without tokens all clients are one caller.
    const sessions = this.#all().filter((session) => session.isOf(caller));
    const [longest] = sessions
      .filter(({ isBusy }) => !isBusy)
      .sort((a, b) => Number(a.isUsed) - Number(b.isUsed) || a.lastSeenAt - b.lastSeenAt);
    if (longest !== undefined) endNow(longest);
    return longest !== undefined;
  }

  #all(): McpSession[] {
    return [...this.#sessions.values()];
  }
}

function newId({ caller, secrets: [newest = NO_SECRET] }: Asking): string {
  const name = randomUUID();
  return `${name}.${signatureOf(name, caller, newest)}`;
}

function isSignedFor(id: string, caller: Caller, secrets: readonly KeyObject[]): boolean {
  const [name = "", signature = ""] = id.split(".");
  const isOf = (key: KeyObject) =>
    hash("sha256", signatureOf(name, caller, key)) === hash("sha256", signature);
  return (secrets.length === 0 ? [NO_SECRET] : secrets).some(isOf);
}

/** Its beginning is in no token, so no token's signature is one of an id. */
function signatureOf(name: string, { subject, authenticated }: Caller, secret: KeyObject): string {
  const signed = `session of MCP: ${JSON.stringify([name, authenticated, subject])}`;
  return createHmac("sha256", secret).update(signed).digest("base64url");
}

/** Removed from the list at once; nothing remains to wait for. */
function endNow(session: McpSession): void {
  void session.server.close().catch(() => {});
}

/** Keeps resource updates while the client has no event stream open, and sends them when it opens one. */
export class MissedUpdates {
  readonly #send: Transport["send"];
  /** By URI, so there is at most one per resource. */
  readonly #missed = new Map<string, JSONRPCMessage>();
  #isStreaming = false;

  /** The transport itself drops messages if no stream is open. */
  constructor(transport: Transport) {
    this.#send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      const { data: update } = ResourceUpdatedNotificationSchema.safeParse(message);
      if (this.#isStreaming || update === undefined) await this.#send(message, options);
      else this.#missed.set(update.params.uri, message);
    };
  }

  async streamOpened(): Promise<void> {
    this.#isStreaming = true;
    const missed = [...this.#missed.values()];
    this.#missed.clear();
    for (const message of missed) await this.#send(message);
  }

  streamClosed(): void {
    this.#isStreaming = false;
  }
}
