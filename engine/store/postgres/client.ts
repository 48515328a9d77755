/** pg's client, except that it does not pester a server, and its socket never outlives it: that would keep the process alive. */
import pg from "pg";
import type { Refusals } from "./reaching.ts";

/** How long the server has to close a connection that we ended. */
const GOODBYE_MS = 1_000;

export interface ClientConfig extends pg.ClientConfig {
  /** Absent: asks the server, whatever it refused before. */
  readonly refusals?: Refusals | undefined;
}

export class Client extends pg.Client {
  readonly #config: ClientConfig;

  constructor(config: ClientConfig = {}) {
    super(config);
    this.#config = config;
    const { connection } = this;
    connection.on("error", () => connection.stream.destroy()); // also where pg gives up, for example without a password
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<pg.Client> | void {
    if (callback !== undefined) return void this.#connect(callback);
    return new Promise((resolve, reject) => {
      void this.#connect((error) => (error ? reject(error) : resolve(this)));
    });
  }

  /** Calls back synchronously, as pg does: an error right after a connection was made must find the listener. */
  async #connect(callback: (error: Error | null) => void): Promise<void> {
    const { refusals, password: given } = this.#config;
    let note: ((failure: unknown) => void) | undefined;
    try {
      const password = typeof given === "function" ? await given() : given;
      note = refusals?.begin(password);
    } catch (error) {
      return callback(error as Error); // of the operator's file, or what pg called back with
    }
    super.connect((error: Error | null) => {
      note?.(error);
      callback(error);
    });
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    const { connection } = this;
    const late = setTimeout(() => connection.stream.destroy(), GOODBYE_MS).unref();
    connection.once("end", () => clearTimeout(late));
    return callback === undefined ? super.end() : super.end(callback);
  }
}
