/**
 * Limits open connections: how many are allowed, which one is closed to make room, and when an unused one is closed.
 *
 * Threat: a client, usually without a token, opens connections and holds them: it sends little or nothing, does not read its
 * answers, or does not close ended connections. Defence: a connection without a request in progress must send one within
 * seconds, an ended connection is destroyed soon after, and answers must be read in time. There is a limit per address and
 * one in total. At a limit, a new connection is still accepted, and an unused one is closed for it: the oldest one of the
 * client that holds the most. So unused connections lock nobody out, not even from the same address, and a connection with
 * a caller's request in progress is never closed. After the answer has been handed over, the client must read it.
 */
import type { Server, ServerResponse } from "node:http";
import { isIPv6, type Socket } from "node:net";

export interface ConnectionLimits {
  readonly connections: number;
  /** All clients behind a reverse proxy share one address. */
  readonly connectionsPerAddress: number;
  /** Time for the headers of the first and each later request to arrive on a connection without a request in progress. */
  readonly waitMs: number;
  /** Time for a client to close a connection that the server has ended. */
  readonly lingerMs: number;
  /** Time without any progress in sending an answer. */
  readonly stalledMs: number;
  /** Time for a caller to read everything that waits to be sent; other clients have `stalledMs`. */
  readonly answerMs: number;
  /** Unanswered requests allowed on one connection. */
  readonly pipelined: number;
  readonly checkTimeoutsEveryMs: number;
}

/** What request handling reports about a request's connection. */
export interface RequestConnection {
  /** The request's caller has been identified. */
  isOf(subject: string): void;
  /** A complete request is in progress for its caller, until its whole response has been handed over. */
  isServing(response: ServerResponse): void;
}

interface Connection extends RequestConnection {
  readonly socket: Socket;
  readonly peer: string;
  /** The address, combined with the caller of the last identified request. */
  holder: string;
  /** Responses that are not closed yet. */
  readonly responses: Set<ServerResponse>;
  hasCaller: boolean;
  /** Further requests on it are not answered. */
  takesNoMore: boolean;
  /** Responses to requests in progress for a caller. */
  readonly serving: Set<ServerResponse>;
  /** When it was opened, or last answered a caller's request. */
  usedAt: number;
  /** When it was opened, or last answered any request. */
  idleSince: number;
  endedAt?: number;
  /** The bytes that waited to be sent at the last check and have not all been read since. */
  unsent?: { readonly since: number; readonly upToByte: number };
}

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #refuse: (socket: Socket) => void;
  readonly #open = new Map<Socket, Connection>();
  readonly #perPeer = new Map<string, number>();
  readonly #checking: NodeJS.Timeout;
  #isEnding = false;

  /** @param refuse ends a connection that there is no room for. */
  constructor(server: Server, limits: ConnectionLimits, refuse: (socket: Socket) => void) {
    this.#limits = limits;
    this.#refuse = refuse;
    this.#checking = setInterval(() => {
      const now = performance.now();
      for (const connection of this.#open.values()) {
        look(connection, now);
        if (isDue(connection, now, this.#limits)) this.#cut(connection);
      }
    }, limits.checkTimeoutsEveryMs).unref();
    server.on("connection", (socket: Socket) => this.#admit(socket));
    // Nothing was received or sent for `stalledMs`, or for Node's own keep-alive time.
    server.on("timeout", (socket: Socket) => {
      const connection = this.#open.get(socket);
      const isQuietRequest = connection !== undefined && connection.responses.size > 0;
      // The request is still in progress, or it is an event stream without events.
      if (isQuietRequest && socket.writableLength === 0) return;
      socket.destroy();
    });
    server.once("close", () => clearInterval(this.#checking));
  }

  /** Undefined if it has been closed. */
  of(socket: Socket): RequestConnection | undefined {
    return this.#open.get(socket);
  }

  /** Called for a new request. False if its connection has been or is about to be closed, so nobody waits for an answer. */
  begin(socket: Socket, response: ServerResponse): boolean {
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.takesNoMore || socket.destroyed) return false;
    if (connection.responses.size >= this.#limits.pipelined) {
      this.#cut(connection);
      return false;
    }
    connection.responses.add(response);
    socket.setTimeout(this.#limits.stalledMs);
    response.once("close", () => {
      connection.responses.delete(response);
      if (connection.responses.size > 0) return;
      connection.idleSince = performance.now();
      if (this.#isEnding) connection.socket.destroySoon();
    });
    return true;
  }

  /** Marks this answer as the connection's last: further pipelined requests are ignored. */
  takeNoMore(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.takesNoMore = true;
  }

  /** Whether an answer has begun, so that no other can be sent. */
  isAnswering(socket: Socket): boolean {
    const responses = [...(this.#open.get(socket)?.responses ?? [])];
    return responses.some(({ headersSent }) => headersSent);
  }

  /** Closes idle connections now, and the others after their last answer. */
  endThoseWithoutRequest(): void {
    this.#isEnding = true;
    for (const { socket, responses } of this.#open.values()) if (responses.size === 0) socket.destroySoon();
  }

  cutAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #admit(socket: Socket): void {
    const peer = peerOf(socket.remoteAddress);
    if (!this.#makeRoomFor(peer)) {
      this.#refuse(socket);
      return;
    }
    const now = performance.now();
    const connection: Connection = {
      ...{ socket, peer, holder: peer, usedAt: now, idleSince: now },
      ...{ responses: new Set(), hasCaller: false, takesNoMore: false, serving: new Set() },
      isOf: (subject) => {
        connection.hasCaller = true;
        connection.holder = `${peer} ${subject}`;
      },
      isServing: (response) => serve(connection, response),
    };
    this.#open.set(socket, connection);
    this.#perPeer.set(peer, this.#countOf(peer) + 1);
    socket.once("close", () => this.#forget(connection));
  }

  /** Uncounted at once, because a destroyed socket has released its descriptor. */
  #cut(connection: Connection): void {
    connection.socket.destroy();
    this.#forget(connection);
  }

  #forget({ socket, peer }: Connection): void {
    if (!this.#open.delete(socket)) return;
    const left = this.#countOf(peer) - 1;
    if (left > 0) this.#perPeer.set(peer, left);
    else this.#perPeer.delete(peer);
  }

  #makeRoomFor(peer: string): boolean {
    const { connections, connectionsPerAddress } = this.#limits;
    if (this.#countOf(peer) >= connectionsPerAddress) return this.#cutOneOf((one) => one.peer === peer);
    if (this.#open.size >= connections) return this.#cutOneOf(() => true);
    return true;
  }

  #cutOneOf(isMeant: (connection: Connection) => boolean): boolean {
    const unused = [...this.#open.values()].filter((one) => one.serving.size === 0 && isMeant(one));
    // The longest unused of the address and caller (or none) that holds the most connections.
    const holders = Map.groupBy(unused, ({ holder }) => holder);
    const [most] = [...holders.values()].sort((a, b) => b.length - a.length);
    const found = most?.reduce((oldest, one) => (one.usedAt < oldest.usedAt ? one : oldest));
    if (found !== undefined) this.#cut(found);
    return found !== undefined;
  }

  #countOf(peer: string): number {
    return this.#perPeer.get(peer) ?? 0;
  }
}

function serve(connection: Connection, response: ServerResponse): void {
  const { serving } = connection;
  const done = () => {
    // Requests that are not served do not renew a connection.
    if (serving.delete(response)) connection.usedAt = performance.now();
  };
  serving.add(response);
  response.once("prefinish", done).once("close", done);
}

/** Polls states for which Node emits no event. */
function look(connection: Connection, now: number): void {
  const { socket, unsent } = connection;
  if (socket.writableFinished) connection.endedAt ??= now;
  const takenBytes = socket.bytesWritten - socket.writableLength;
  if (unsent !== undefined && takenBytes >= unsent.upToByte) delete connection.unsent;
  if (socket.writableLength > 0) connection.unsent ??= { since: now, upToByte: socket.bytesWritten };
}

function isDue(connection: Connection, now: number, limits: ConnectionLimits): boolean {
  const { endedAt = now, unsent, idleSince, responses, hasCaller } = connection;
  const isWaiting = responses.size === 0;
  return (
    now - endedAt >= limits.lingerMs ||
    (isWaiting && now - idleSince >= limits.waitMs) ||
    (unsent !== undefined && now - unsent.since >= (hasCaller ? limits.answerMs : limits.stalledMs))
  );
}

/** The IPv6 prefix that a provider gives to one customer: four groups of four digits, 64 bits. */
const NETWORK_GROUPS = 4;
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * A connection's peer for limits: an IPv4 address, or an IPv6 network, because one client usually has a whole network.
 *
 * Uses the socket's `remoteAddress`, because a header can be forged.
 */
export function peerOf(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return "none";
  const mapped = MAPPED_IPV4.exec(remoteAddress)?.[1];
  if (mapped !== undefined) return mapped;
  return isIPv6(remoteAddress) ? networkOf(remoteAddress) : remoteAddress;
}

function networkOf(address: string): string {
  const [head = "", tail] = address.split("%", 1)[0]?.split("::") ?? [];
  const groups = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - last.length) }, () => "0");
  return [...groups, ...zeros, ...last].slice(0, NETWORK_GROUPS).join(":");
}
