/** A real server with a real memory on a loopback socket, and the remote memory of a token's owner. */
import { once } from "node:events";
import {
  createServer as createHttp,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from "node:http";
import { type AddressInfo, createServer as createNet, type Server as NetServer, type Socket } from "node:net";
import { checkEngineAddress, type EngineSettings } from "../../../../app/remote/engine/engine-address.ts";
import { type EngineMemoryOptions, openEngineMemory } from "../../../../app/remote/engine/engine-memory.ts";
import type { RemoteMemory } from "../../../../app/remote/remote-memory.ts";
import { createServer, type Listening } from "../../../../server/create-server.ts";
import {
  ContextServer,
  type ContextServerOptions,
  NOW,
  SECRET,
  tokenFor,
} from "../../../server/fixtures/context-server.ts";

export class ServedEngine {
  readonly context: ContextServer;
  listening: Listening;

  private constructor(context: ContextServer, listening: Listening) {
    this.context = context;
    this.listening = listening;
  }

  static async open(options: ContextServerOptions = {}): Promise<ServedEngine> {
    const context = await ContextServer.open({ secret: SECRET, ...options });
    return new ServedEngine(context, await context.server.listen({ port: 0 }));
  }

  get url(): string {
    return this.listening.url;
  }

  /** Like stopping and starting `helmdeck-memory serve`: the same memory on the same port. */
  async restartAfter(meanwhile: () => Promise<void>): Promise<void> {
    const { port } = this.listening;
    await this.listening.close();
    await meanwhile();
    const { serverContext } = this.context;
    this.listening = await createServer(serverContext, { secret: SECRET, now: () => NOW }).listen({ port });
  }

  async close(): Promise<void> {
    await this.listening.close();
    await this.context.close();
  }
}

export interface RemoteOptions
  extends Partial<Omit<EngineMemoryOptions, "address">>,
    Partial<EngineSettings> {}

/** By default with the token of a caller whose name is the subject, and who may record. */
export function remoteOf(url: string, options: RemoteOptions = {}): RemoteMemory {
  const { fingerprint256, caFile, allowPlainHttp, ...others } = options;
  const settings = { fingerprint256, caFile, allowPlainHttp };
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  return openEngineMemory({
    address: checkEngineAddress({ url, ...given }, (field) => field),
    tokenOf: (subject) => tokenFor(subject, ["record"]),
    agents: ["main"],
    now: () => NOW,
    ...others,
  });
}

/** A server on a loopback port that answers as the test specifies. */
export class OddServer {
  readonly server: Server | NetServer;
  readonly requests: IncomingMessage[] = [];
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server | NetServer) {
    this.server = server;
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
    });
  }

  static async answering(answer: RequestListener): Promise<OddServer> {
    const server = createHttp((request, response) => {
      odd.requests.push(request);
      request.resume();
      answer(request, response);
    });
    const odd = new OddServer(server);
    return odd.#listen();
  }

  static json(status: number, body: unknown, headers: Record<string, string> = {}): Promise<OddServer> {
    return OddServer.answering((_request, response) => {
      response.writeHead(status, { "Content-Type": "application/json", ...headers });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  }

  /** Accepts connections and sends nothing. */
  static silent(): Promise<OddServer> {
    return new OddServer(createNet()).#listen();
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port; // the server listens on a port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.server.close();
    await once(this.server, "close");
  }

  async #listen(): Promise<this> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return this;
  }
}
