/** A proxy between a store and its server, which can cut connections and lead to another server. */
import { mkdtemp, rm } from "node:fs/promises";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import {
  openPostgresStore,
  type PostgresStoreOptions,
} from "../../../../engine/store/postgres/open-postgres.ts";
import type { PostgresServer } from "../../../postgres/server.ts";
import { ENGINE, openPostgresRig, type PostgresRig } from "./postgres-rig.ts";

export const SOCKET = ".s.PGSQL.5432";

export type Served = Awaited<ReturnType<typeof openPostgresStore>>;

/** Cuts a connection before or after the server receives a given statement. */
export class Cutter {
  readonly folder: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #to: string;
  #cut: { readonly statement: string; readonly isBefore: boolean } | undefined;

  private constructor(folder: string, to: string) {
    this.folder = folder;
    this.#to = to;
    this.#server = createServer((client) => this.#pass(client, createConnection(join(this.#to, SOCKET))));
  }

  static async open(to: string): Promise<Cutter> {
    const cutter = new Cutter(await mkdtemp("/tmp/hdm-cut-"), to);
    await new Promise<void>((resolve) => cutter.#server.listen(join(cutter.folder, SOCKET), resolve));
    return cutter;
  }

  /** Cuts the connection once. */
  cutAt(statement: string, when: "before" | "after"): void {
    this.#cut = { statement, isBefore: when === "before" };
  }

  /** Sends new connections to another server, like an address that follows the primary. */
  turnTo(folder: string): void {
    this.#to = folder;
  }

  get hasCut(): boolean {
    return this.#cut === undefined;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.folder, { recursive: true, force: true });
  }

  #pass(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket
        .on("error", () => undefined)
        .on("close", () => {
          this.#sockets.delete(socket);
          client.destroy();
          server.destroy();
        });
    }
    let isDeaf = false;
    client.on("data", (data) => {
      const cut = this.#cut;
      if (cut === undefined || !data.includes(cut.statement)) return server.write(data);
      this.#cut = undefined;
      if (cut.isBefore) return client.destroy();
      isDeaf = true; // the server runs the statement, but its answer is dropped
      return server.write(data);
    });
    server.on("data", (data) => (isDeaf ? client.destroy() : client.write(data)));
  }
}

/** Opens a store that reaches the server through a proxy. */
export async function withCutter(
  server: PostgresServer,
  run: (rig: PostgresRig & { readonly store: Served }, cutter: Cutter) => Promise<void>,
  options: Partial<PostgresStoreOptions> = {},
): Promise<void> {
  const rig = await openPostgresRig(server);
  const cutter = await Cutter.open(server.socketFolder);
  const url = `postgres://${ENGINE}@/postgres?host=${encodeURIComponent(cutter.folder)}&port=5432`;
  const connection = { connectionString: url };
  const store = await openPostgresStore({ ...rig.options, connection, ...options });
  try {
    await run({ ...rig, store }, cutter);
  } finally {
    await store.close();
    await cutter.close();
    await rig.dispose();
  }
}
