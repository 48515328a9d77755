/**
 * The open connections: how many there may be, which one gives way, and when one that brings nothing is cut.
 *
 * Who attacks: a client, without a token as a rule, that opens connections and holds them: it says nothing or little, does not
 * read what it is answered, does not close what was ended. What stops it: a connection on which no caller's request is under
 * way has seconds to bring one; what was ended is closed for good soon after; an answer must be taken. There is a bound for
 * each address and one for all, and at either a new connection is let in all the same: one that serves nobody gives way to it,
 * the oldest of whoever holds the most of those. So nobody is kept out by connections that somebody else holds and does not
 * use, from the same address neither; and a connection on which a caller's request is carried out is never taken. Once the
 * answer has been handed over, it is for the client to take it.
 */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { peerOf } from "./peer.ts";

export interface ConnectionLimits {
  readonly connections: number;
  /** A reverse proxy is one address. */
  readonly connectionsPerAddress: number;
  /** For a request's headers to arrive on a connection that has no request under way; the first, and each after it. */
  readonly waitMs: number;
  /** For a client to close what the server has ended. */
  readonly lingerMs: number;
  /** For bytes of an answer to leave before any more do. */
  readonly stalledMs: number;
  /** For all that waits to be sent to be taken by a caller; others have as long as `stalledMs`. */
  readonly answerMs: number;
  /** Requests on one connection that wait for their answers. */
  readonly pipelined: number;
  readonly checkTimeoutsEveryMs: number;
}

/** What request handling tells of the connection on which a request came. */
export interface RequestConnection {
  /** The request's caller is known. */
  isOf(subject: string): void;
  /** A request has arrived whole and is carried out for its caller, until all of this response has been handed over. */
  isServing(response: ServerResponse): void;
}

interface Connection extends RequestConnection {
  readonly socket: Socket;
  readonly peer: string;
  /** Of the address and the caller of the last request that had one, together. */
  holder: string;
  /** Not yet closed. */
  readonly responses: Set<ServerResponse>;
  hasCaller: boolean;
  /** What else comes on it is not answered. */
  takesNoMore: boolean;
  /** Of requests that are carried out for a caller. */
  readonly serving: Set<ServerResponse>;
  /** When it was opened, or a request of a caller was last answered. */
  usedAt: number;
  /** When it was opened, or any request was last answered. */
  idleSince: number;
  endedAt?: number;
  /** What waited to be sent when that was last looked at anew, and has not all been taken since. */
  unsent?: { readonly since: number; readonly upToByte: number };
}

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #refuse: (socket: Socket) => void;
  readonly #open = new Map<Socket, Connection>();
  readonly #perPeer = new Map<string, number>();
  readonly #checking: NodeJS.Timeout;
  #isEnding = false;

  /** @param refuse is given a connection that there is no room for, to end it. */
  constructor(server: Server, limits: ConnectionLimits, refuse: (socket: Socket) => void) {
    this.#limits = limits;
    this.#refuse = refuse;
    this.#checking = setInterval(() => this.#check(), limits.checkTimeoutsEveryMs).unref();
    server.on("connection", (socket: Socket) => this.#admit(socket));
    server.on("timeout", (socket: Socket) => this.#quiet(socket));
    server.once("close", () => clearInterval(this.#checking));
  }

  /** Undefined when it has been cut. */
  of(socket: Socket): RequestConnection | undefined {
    return this.#open.get(socket);
  }

  /** For a request that has come; false when its connection has been cut or is about to be, so that nobody waits for an answer. */
  begin(socket: Socket, response: ServerResponse): boolean {
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.takesNoMore || socket.destroyed) return false;
    if (connection.responses.size >= this.#limits.pipelined) {
      this.#cut(connection);
      return false;
    }
    connection.responses.add(response);
    socket.setTimeout(this.#limits.stalledMs);
    response.once("close", () => this.#end(connection, response));
    return true;
  }

  /** For a connection whose last answer this will be: requests that came together with the first are passed over. */
  takeNoMore(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.takesNoMore = true;
  }

  /** An answer has begun, so that no other can be sent. */
  isAnswering(socket: Socket): boolean {
    const responses = [...(this.#open.get(socket)?.responses ?? [])];
    return responses.some(({ headersSent }) => headersSent);
  }

  /** Now, and each other one once its last request has been answered. */
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

  /** Out of the count at once: a socket that is destroyed has given back its descriptor. */
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
    const found = oldestOfTheMost(unused);
    if (found !== undefined) this.#cut(found);
    return found !== undefined;
  }

  #end(connection: Connection, response: ServerResponse): void {
    connection.responses.delete(response);
    if (connection.responses.size > 0) return;
    connection.idleSince = performance.now();
    if (this.#isEnding) connection.socket.destroySoon();
  }

  /** Nothing came and nothing left for `stalledMs`, or for as long as Node keeps an idle connection. */
  #quiet(socket: Socket): void {
    const connection = this.#open.get(socket);
    const isQuietRequest = connection !== undefined && connection.responses.size > 0;
    // It is still being carried out, or is an event stream without news.
    if (isQuietRequest && socket.writableLength === 0) return;
    socket.destroy();
  }

  #check(): void {
    const now = performance.now();
    for (const connection of this.#open.values()) {
      look(connection, now);
      if (isDue(connection, now, this.#limits)) this.#cut(connection);
    }
  }

  #countOf(peer: string): number {
    return this.#perPeer.get(peer) ?? 0;
  }
}

function serve(connection: Connection, response: ServerResponse): void {
  const { serving } = connection;
  const done = () => {
    // What is asked for without being served makes a connection no younger.
    if (serving.delete(response)) connection.usedAt = performance.now();
  };
  serving.add(response);
  response.once("prefinish", done).once("close", done);
}

/** Of the connections of one address and one caller, or none, that are the most: the one that has not been used for longest. */
function oldestOfTheMost(connections: readonly Connection[]): Connection | undefined {
  const holders = Map.groupBy(connections, ({ holder }) => holder);
  const [most] = [...holders.values()].sort((a, b) => b.length - a.length);
  return most?.reduce((oldest, one) => (one.usedAt < oldest.usedAt ? one : oldest));
}

/** Notes what Node gives no event for. */
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
