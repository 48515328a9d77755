/** One call over the gateway's WebSocket, like its own local clients (docs/gateway/protocol/handshake.md). */
import { randomUUID } from "node:crypto";
import type { Json, JsonObject } from "./home.ts";

interface Frame {
  readonly type: "event" | "res";
  readonly id?: string;
  readonly event?: string;
  readonly ok?: boolean;
  readonly payload?: Json;
  readonly error?: { readonly code?: string; readonly message?: string };
}

/** The scopes of the gateway's token. */
const ALL_SCOPES = ["operator.admin", "operator.read", "operator.write"];
const DEFAULT_TIMEOUT_MS = 30_000;

export interface RpcOptions {
  readonly timeoutMs?: number;
  /** Default: all of them. */
  readonly scopes?: readonly string[];
}

/** The payload of the method's first answer; throws with the gateway's message if it refuses. */
export async function callGateway(
  gateway: Gateway,
  method: string,
  params: JsonObject,
  { timeoutMs = DEFAULT_TIMEOUT_MS, scopes }: RpcOptions = {},
): Promise<Json> {
  const session = await connectGateway(gateway, { scopes });
  const timer = setTimeout(() => session.close(), timeoutMs);
  try {
    return await session.call(method, params);
  } finally {
    clearTimeout(timer);
    session.close();
  }
}

interface Gateway {
  readonly port: number;
  readonly token: string;
}

/** A client that stays connected, like the Control UI. */
export interface GatewaySession {
  call(method: string, params: JsonObject): Promise<Json>;
  /** The payload of the next event with this name. */
  next(event: string): Promise<Json>;
  close(): void;
}

interface SessionOptions {
  readonly scopes?: readonly string[] | undefined;
  /** The client's capabilities, such as `approvals`: to be asked for a person's approval. */
  readonly caps?: readonly string[];
}

export async function connectGateway(
  { port, token }: Gateway,
  { scopes = ALL_SCOPES, caps = [] }: SessionOptions = {},
): Promise<GatewaySession> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  const timer = setTimeout(() => socket.close(), DEFAULT_TIMEOUT_MS);
  try {
    await frameFrom(socket, (frame) => frame.event === "connect.challenge");
    await request(socket, "connect", connectParams(token, scopes, caps));
  } catch (error) {
    socket.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return {
    call: (method, params) => request(socket, method, params),
    next: async (event) => (await frameFrom(socket, (frame) => frame.event === event)).payload ?? null,
    close: () => socket.close(),
  };
}

async function request(socket: WebSocket, method: string, params: JsonObject): Promise<Json> {
  const id = randomUUID();
  const answer = frameFrom(socket, (frame) => frame.type === "res" && frame.id === id);
  socket.send(JSON.stringify({ type: "req", id, method, params }));
  const { ok, payload, error } = await answer;
  if (ok !== true) throw new Error(`${method}: ${error?.message ?? "refused by the gateway"}`);
  return payload ?? null;
}

/** The first matching frame; rejects if the connection ends first. */
function frameFrom(socket: WebSocket, isWanted: (frame: Frame) => boolean): Promise<Frame> {
  return new Promise((resolve, reject) => {
    socket.addEventListener("close", ({ code, reason }) =>
      reject(new Error(`the gateway closed the connection (${code} ${reason})`)),
    );
    socket.addEventListener("error", () => reject(new Error("the gateway cannot be reached")));
    socket.addEventListener("message", ({ data }) => {
      const frame = JSON.parse(String(data)) as Frame; // the gateway's own wire format, protocol 4
      if (isWanted(frame)) resolve(frame);
    });
  });
}

function connectParams(token: string, scopes: readonly string[], caps: readonly string[]): JsonObject {
  return {
    minProtocol: 4,
    maxProtocol: 4,
    client: { id: "gateway-client", version: "0.0.0", platform: process.platform, mode: "backend" },
    role: "operator",
    scopes,
    caps,
    auth: { token },
  };
}
