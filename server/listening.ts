/**
 * The server on a socket: which addresses it may listen on, how long it waits for a slow client, how it stops.
 *
 * Who attacks: a client that opens connections and says little (slowloris), sends endless headers, or keeps many connections
 * open. What stops them: time-outs on headers and on the whole request, a limit on headers and on connections. Without
 * authentication the server listens on loopback only.
 */
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { BlockList, type Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { errorReply, HelmdeckError } from "../app/index.ts";
import type { ServerApp } from "./app.ts";
import { statusOf } from "./status.ts";

export interface SocketLimits {
  readonly headerBytes: number;
  readonly headers: number;
  readonly connections: number;
  readonly headersTimeoutMs: number;
  /** For all of a request to arrive, not for its answer. */
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly checkTimeoutsEveryMs: number;
}

export const SOCKET_LIMITS: SocketLimits = {
  headerBytes: 16 * 1_024,
  headers: 100,
  connections: 1_024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 5_000,
  checkTimeoutsEveryMs: 1_000,
};

export interface SocketOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly hasAuthentication: boolean;
  readonly limits?: Partial<SocketLimits>;
}

export interface Socketed {
  readonly address: string;
  readonly port: number;
  /** `http://…`, as a client writes it. */
  readonly url: string;
  /** Takes no more connections; waits for what was accepted, at most `graceMs`, then cuts what is left. */
  stop(graceMs: number): Promise<void>;
}

/** Throws `forbidden` for an open address without authentication, `invalid_input` when it cannot listen there. */
export async function listen(app: ServerApp, options: SocketOptions): Promise<Socketed> {
  const address = await addressOf(options.host);
  if (!options.hasAuthentication && !isLoopback(address)) throw openWithoutAuthentication(options.host);
  const server = makeServer(app, { ...SOCKET_LIMITS, ...options.limits });
  const connections = new Connections(server);
  try {
    server.listen({ host: address, port: options.port, exclusive: true });
    await once(server, "listening");
  } catch (error) {
    throw cannotListen(options, error);
  }
  const bound = server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : options.port;
  const name = address.includes(":") ? `[${address}]` : address;
  return {
    address,
    port,
    url: `http://${name}:${port}`,
    stop: (graceMs) => stop(server, connections, graceMs),
  };
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

function isLoopback(address: string): boolean {
  return LOOPBACK.check(address, address.includes(":") ? "ipv6" : "ipv4");
}

/** What is listened on is what was checked: a name is looked up once. */
async function addressOf(host: string): Promise<string> {
  try {
    const name = host.replace(/^\[(.*)\]$/, "$1");
    return (await lookup(name, { verbatim: false, order: "ipv4first" })).address;
  } catch (cause) {
    throw new HelmdeckError("invalid_input", "The address to listen on is not known on this machine.", {
      details: { field: "host" },
      cause,
    });
  }
}

function makeServer(app: ServerApp, limits: SocketLimits): Server {
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.checkTimeoutsEveryMs,
      // Node's own refusal has no envelope; without a Host there is no address, and that is refused below.
      requireHostHeader: false,
    },
    getRequestListener(app.fetch, {
      errorHandler: () => refusalOf("invalid_input", "The request is malformed."),
    }),
  );
  server.maxHeadersCount = limits.headers;
  server.maxConnections = limits.connections;
  server.on("clientError", answerBrokenRequest);
  // Node would answer 417 without an envelope; RFC 9110 lets a server pass over what it does not know.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  return server;
}

/** What Node's parser refuses never becomes a request; the client gets the same envelope as for any other refusal. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const { status, line, body } = brokenReply(error.code);
  socket.end(
    `HTTP/1.1 ${status} ${line}\r\nContent-Type: application/json\r\nConnection: close\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function brokenReply(code: string | undefined) {
  const reply = (status: number, line: string, error: HelmdeckError) => ({
    status,
    line,
    body: JSON.stringify(errorReply(error)),
  });
  if (code === "HPE_HEADER_OVERFLOW") {
    const message = `The headers may be ${SOCKET_LIMITS.headers}, and have ${SOCKET_LIMITS.headerBytes} bytes together.`;
    return reply(431, "Request Header Fields Too Large", new HelmdeckError("too_large", message));
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    const message = "The request did not arrive in time; send it again.";
    return reply(408, "Request Timeout", new HelmdeckError("deadline_exceeded", message));
  }
  return reply(400, "Bad Request", new HelmdeckError("invalid_input", "This is not an HTTP request."));
}

function refusalOf(code: "invalid_input", message: string): Response {
  return Response.json(errorReply(new HelmdeckError(code, message)), { status: statusOf(code) });
}

async function stop(server: Server, connections: Connections, graceMs: number): Promise<void> {
  const closed = once(server, "close");
  server.close();
  connections.endThoseWithoutRequest();
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(cut);
}

/** Node's own count takes a connection that has not said anything yet for a busy one. */
class Connections {
  readonly #requests = new Map<Socket, number>();
  #ending = false;

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#requests.set(socket, 0);
      socket.once("close", () => this.#requests.delete(socket));
    });
    server.on("request", ({ socket }, response) => {
      this.#count(socket, 1);
      response.once("close", () => this.#count(socket, -1));
    });
  }

  /** Now, and each other one once its last request has been answered. */
  endThoseWithoutRequest(): void {
    this.#ending = true;
    for (const [socket, requests] of this.#requests) if (requests === 0) socket.destroySoon();
  }

  #count(socket: Socket, change: 1 | -1): void {
    const before = this.#requests.get(socket);
    if (before === undefined) return;
    this.#requests.set(socket, before + change);
    if (this.#ending && before + change === 0) socket.destroySoon();
  }
}

function openWithoutAuthentication(host: string): HelmdeckError {
  return new HelmdeckError(
    "forbidden",
    `Without authentication the server listens on loopback only, and ${host} is not. Set HELMDECK_JWT_SECRET (openssl rand -hex 32 makes one), or listen on 127.0.0.1.`,
    { details: { host } },
  );
}

const LISTEN_TROUBLE: Readonly<Record<string, string>> = {
  EADDRINUSE: "it is in use by another process; choose another with --port, or 0 for any free one",
  EACCES: "this account may not; choose a port from 1024",
  EADDRNOTAVAIL: "this machine does not have that address",
};

function cannotListen({ host, port }: SocketOptions, error: unknown): HelmdeckError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  const why = LISTEN_TROUBLE[code] ?? `the system says ${code}`;
  return new HelmdeckError("invalid_input", `Cannot listen on ${host} port ${port}: ${why}.`, {
    details: { host, port, systemCode: code },
    cause: error,
  });
}
