/** MCP over Streamable HTTP, mounted next to REST: with the same guards, for the token's caller. */
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import type { ServerContext } from "../../packs/server-context.ts";
import type { Mount, MountedRequest } from "../mount.ts";
import { type McpServiceOptions, makeMcpService } from "./mcp-service.ts";
import { McpSessions, type SessionLimits } from "./mcp-sessions.ts";
import { BEGIN, refusedVersion } from "./protocol-versions.ts";
import { processTicker } from "./watch.ts";

export interface McpMountOptions extends Omit<McpServiceOptions, "onFailure"> {
  readonly now?: () => number;
  readonly limits?: Partial<SessionLimits>;
  /** Time that `close` waits for runs before it cancels them. Default 5 s. */
  readonly closeGraceMs?: number;
}

export const SESSION_LIMITS: SessionLimits = { idleMs: 30 * 60 * 1_000, perCaller: 64, total: 1_024 };

const CLOSE_GRACE_MS = 5_000;
/** A batch counts as one request against the caller's rate. */
export const MOST_IN_BATCH = 20;
const LOOK_FOR_IDLE_EVERY_MS = 60_000;
const SESSION_NOT_FOUND = -32_001;
const REFUSED = -32_000;
/** Clients that know the specification react with a new initialize. A person reads this in the others. */
const NOT_FOUND =
  "Session not found. Send initialize to begin a new one: in most programs, reconnect this server.";
const TOO_MANY = "You have too many MCP sessions and all are busy. End one with DELETE.";
const INVALID_REQUEST = -32_600;

/** Throws `invalid_input` if the server context's packs have clashing or invalid tool names. */
export function mcpMount(serverContext: ServerContext, options: McpMountOptions = {}): Mount {
  const { now = Date.now, limits, ticker = processTicker, closeGraceMs = CLOSE_GRACE_MS } = options;
  const service = makeMcpService(serverContext, options);
  const sessions = new McpSessions(service, { ...SESSION_LIMITS, ...limits }, now);
  const stopLooking = ticker(() => sessions.endIdle(), LOOK_FOR_IDLE_EVERY_MS);
  let isClosing = false;
  return {
    path: "/mcp",
    methods: {
      post: "Send one message of MCP, or a few; `initialize` opens a session.",
      get: "The event stream of a session: updates of resources.",
      delete: "End a session.",
    },
    handle: async (request, context) => {
      if (isClosing) return refusal(503, REFUSED, "The server is shutting down.");
      const { body } = context;
      if (Array.isArray(body) && body.length > MOST_IN_BATCH) {
        return refusal(400, INVALID_REQUEST, `A batch may have ${MOST_IN_BATCH} messages.`);
      }
      const unspoken = refusedVersion(body, request.headers.get("mcp-protocol-version"));
      if (unspoken !== undefined) return Response.json(unspoken, { status: 400 });
      const id = request.headers.get("mcp-session-id");
      if (id !== null) return inSession(sessions, request, context, id);
      if (request.method === "POST" && isInitializeRequest(body)) {
        const session = await sessions.open(context);
        if (session === undefined) return refusal(429, REFUSED, TOO_MANY);
        const response = await session.transport.handleRequest(request, { parsedBody: context.body });
        // A request with unacceptable headers opens no session.
        if (!response.ok) await session.server.close();
        return response;
      }
      return refusal(400, REFUSED, `There is no Mcp-Session-Id. ${BEGIN}`);
    },
    failAs: ({ message, ...data }) => errorOf(REFUSED, message, data),
    close: async () => {
      isClosing = true;
      stopLooking();
      await sessions.close(closeGraceMs);
      service.watch.close();
    },
  };
}

async function inSession(sessions: McpSessions, request: Request, context: MountedRequest, id: string) {
  if (!sessions.isOpen(id, context)) return refusal(404, SESSION_NOT_FOUND, NOT_FOUND);
  const session = await sessions.find(id, context);
  if (session === undefined) return refusal(429, REFUSED, TOO_MANY);
  session.openResponses += 1;
  try {
    const response = await session.transport.handleRequest(request, { parsedBody: context.body });
    if (request.method === "DELETE" && response.ok) sessions.noteEnded(id);
    const isStream = request.method === "GET" && response.ok;
    if (isStream) await session.missed.streamOpened();
    return whenWritten(response, () => {
      session.openResponses -= 1;
      if (isStream) session.missed.streamClosed();
    });
  } catch (error) {
    session.openResponses -= 1; // or it would count as busy forever
    throw error;
  }
}

/** The response; calls `done` when its last byte was read or its reader has disconnected. */
function whenWritten(response: Response, done: () => void): Response {
  if (response.body === null) {
    done();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done: isEnd, value } = await reader.read();
      if (!isEnd) return controller.enqueue(value);
      done();
      controller.close();
    },
    async cancel(reason) {
      done();
      await reader.cancel(reason);
    },
  });
  const { status, headers } = response;
  return new Response(body, { status, headers });
}

function refusal(status: number, code: number, message: string): Response {
  return Response.json(errorOf(code, message), { status });
}

function errorOf(code: number, message: string, data?: object) {
  return { jsonrpc: "2.0", error: { code, message, ...(data && { data }) }, id: null };
}
