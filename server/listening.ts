/**
 * The server on a socket: allowed addresses, timeouts for slow clients, and shutdown.
 *
 * Threat: a client that sends slowly (slowloris), sends endless headers, or holds connections. Defence: timeouts for headers and
 * for the whole request, a limit on headers, and the limits in connections.ts. Without authentication the server listens on
 * loopback only.
 */
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { BlockList, type Socket } from "node:net";
import { promisify } from "node:util";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { errorReply } from "../app/wire/error-reply.ts";
import { defined } from "../engine/defined.ts";
import { HelmdeckError, invalidField, systemCodeOf } from "../engine/errors.ts";
import { failureHeaders } from "./answer-failures.ts";
import type { ServerApp } from "./app.ts";
import { type ConnectionLimits, Connections } from "./connections.ts";
import { statusOf } from "./status.ts";

export interface SocketLimits extends ConnectionLimits {
  readonly headerBytes: number;
  readonly headers: number;
  readonly headersTimeoutMs: number;
  /** Time for a complete request to arrive; its answer may take longer. */
  readonly requestTimeoutMs: number;
  /** As answers announce it. */
  readonly keepAliveTimeoutMs: number;
  /** Later by this, so that a request which a client sends at the last moment still arrives. */
  readonly keepAliveBufferMs: number;
}

/** Under any of these limits, an unused connection releases its descriptor within 15 s. */
export const SOCKET_LIMITS: SocketLimits = {
  headerBytes: 16 * 1_024,
  headers: 100,
  // Together with the database and packs' programs, this stays below 1,024 descriptors, the limit on some systems.
  connections: 768,
  connectionsPerAddress: 512,
  headersTimeoutMs: 8_000,
  requestTimeoutMs: 8_000,
  keepAliveTimeoutMs: 5_000,
  keepAliveBufferMs: 5_000,
  waitMs: 10_000,
  lingerMs: 2_000,
  stalledMs: 8_000,
  answerMs: 120_000,
  pipelined: 32,
  checkTimeoutsEveryMs: 1_000,
};

export interface SocketOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly hasAuthentication: boolean;
  readonly limits?: Partial<SocketLimits>;
  /** A refusal to send before the request is read, if any. */
  readonly refusalOf: (request: IncomingMessage) => HelmdeckError | undefined;
}

export interface Socketed {
  readonly address: string;
  readonly port: number;
  /** `http://…`, for clients. */
  readonly url: string;
  /** Connections that hold a descriptor. */
  countConnections(): Promise<number>;
  /** Accepts no more connections, waits up to `graceMs` for accepted requests, then closes the rest. */
  stop(graceMs: number): Promise<void>;
}

/** Throws `forbidden` for a public address without authentication, `invalid_input` if it cannot listen there. */
export async function listen(app: Pick<ServerApp, "fetch">, options: SocketOptions): Promise<Socketed> {
  const address = await addressToListenOn(options);
  const { server, connections } = makeServer(app, options);
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
    countConnections: () => promisify(server.getConnections.bind(server))(),
    stop: (graceMs) => stop(server, connections, graceMs),
  };
}

/** Throws `forbidden` and `invalid_input` like {@link listen}. */
export async function addressToListenOn({
  host,
  hasAuthentication,
}: Pick<SocketOptions, "host" | "hasAuthentication">): Promise<string> {
  const address = await addressOf(host);
  const isLoopback = LOOPBACK.check(address, address.includes(":") ? "ipv6" : "ipv4");
  if (!hasAuthentication && !isLoopback)
    throw new HelmdeckError(
      "forbidden",
      `Without authentication the server listens on loopback only, and ${host} is not a loopback address. Set HELMDECK_JWT_SECRET (make one with: openssl rand -hex 32), or listen on 127.0.0.1.`,
      { details: { host } },
    );
  return address;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** Resolves a name once, so that the server listens on the address that was checked. */
async function addressOf(host: string): Promise<string> {
  try {
    const name = host.replace(/^\[(.*)\]$/, "$1");
    return (await lookup(name, { verbatim: false, order: "ipv4first" })).address;
  } catch (cause) {
    throw invalidField("host", "is not known on this machine", { named: "The address to listen on", cause });
  }
}

function makeServer(app: Pick<ServerApp, "fetch">, options: SocketOptions) {
  const limits = { ...SOCKET_LIMITS, ...options.limits };
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    keepAliveTimeoutBuffer: limits.keepAliveBufferMs,
    connectionsCheckingInterval: limits.checkTimeoutsEveryMs,
    // Node's own refusal would have no envelope. A request without a Host is refused below.
    requireHostHeader: false,
  });
  server.maxHeadersCount = limits.headers;
  const connections = new Connections(server, limits, (socket) => refuseConnection(socket, limits));
  const answer = requestListener(app, connections);
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (!connections.begin(request.socket, response)) return;
    const refusal = options.refusalOf(request);
    if (refusal === undefined) {
      void answer(request, response);
      return;
    }
    connections.takeNoMore(request.socket);
    // Also closes the connection, so that a flooding client must open a new one each time.
    response.writeHead(statusOf(refusal.code), {
      "Content-Type": "application/json",
      Connection: "close",
      ...failureHeaders(refusal),
    });
    response.end(JSON.stringify(errorReply(refusal)));
  });
  // What Node's parser refuses is answered with the same envelope as any other refusal.
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // Anything that a client sends after its refusal also arrives here, and is ignored until the connection is closed.
    if (socket.writableEnded) return;
    if (!socket.writable || error.code === "ECONNRESET" || connections.isAnswering(socket)) socket.destroy();
    else socket.end(brokenReply(error.code));
  });
  // Node would answer 417 without an envelope. RFC 9110 allows a server to ignore an unknown expectation.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  return { server, connections };
}

function requestListener(app: Pick<ServerApp, "fetch">, connections: Connections) {
  const fetch = (request: Request, bindings: HttpBindings) => {
    const connection = connections.of(bindings.incoming.socket);
    return app.fetch(request, { ...bindings, ...defined({ connection }) });
  };
  // This server speaks only HTTP/1, so the bindings are the HTTP/1 ones.
  return getRequestListener((request, bindings) => fetch(request, bindings as HttpBindings), {
    errorHandler: () => refusalOf("invalid_input", "The request is malformed."),
  });
}

/** Used when every connection has a caller's request in progress. */
function refuseConnection(socket: Socket, { connections, connectionsPerAddress }: SocketLimits): void {
  const message =
    `Too many requests are in progress: at most ${connectionsPerAddress} connections may be open from one address,` +
    ` ${connections} in all. Wait for some to end and try again.`;
  socket.end(replyOf(429, "Too Many Requests", new HelmdeckError("rate_limited", message)));
  socket.destroySoon();
}

function brokenReply(code: string | undefined): string {
  if (code === "HPE_HEADER_OVERFLOW") {
    const message = `A request may have at most ${SOCKET_LIMITS.headers} headers of ${SOCKET_LIMITS.headerBytes} bytes in total.`;
    return replyOf(431, "Request Header Fields Too Large", new HelmdeckError("too_large", message));
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    const message = "The request did not arrive in time; send it again.";
    return replyOf(408, "Request Timeout", new HelmdeckError("deadline_exceeded", message));
  }
  return replyOf(400, "Bad Request", new HelmdeckError("invalid_input", "This is not an HTTP request."));
}

function replyOf(status: number, line: string, error: HelmdeckError): string {
  const body = JSON.stringify(errorReply(error));
  return (
    `HTTP/1.1 ${status} ${line}\r\nContent-Type: application/json\r\nConnection: close\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

function refusalOf(code: "invalid_input", message: string): Response {
  return Response.json(errorReply(new HelmdeckError(code, message)), { status: statusOf(code) });
}

async function stop(server: Server, connections: Connections, graceMs: number): Promise<void> {
  const closed = once(server, "close");
  server.close();
  connections.endThoseWithoutRequest();
  const cut = setTimeout(() => connections.cutAll(), graceMs);
  await closed;
  clearTimeout(cut);
}

const LISTEN_TROUBLE: Readonly<Record<string, string>> = {
  EADDRINUSE: "another process uses it; choose another port with --port, or 0 for any free one",
  EACCES: "this account may not use it; choose a port from 1024",
  EADDRNOTAVAIL: "this machine does not have that address",
};

function cannotListen({ host, port }: SocketOptions, error: unknown): HelmdeckError {
  const code = systemCodeOf(error);
  const why = LISTEN_TROUBLE[code] ?? `the system says ${code}`;
  return new HelmdeckError("invalid_input", `Cannot listen on ${host} port ${port}: ${why}.`, {
    details: { host, port, systemCode: code },
    cause: error,
  });
}
