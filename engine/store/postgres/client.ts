/** pg's client, except that its socket never outlives it: an open socket would keep the process alive. */
import pg from "pg";

/** How long the server has to close a connection that we ended. */
const GOODBYE_MS = 1_000;

export class Client extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const { connection } = this;
    connection.on("error", () => connection.stream.destroy()); // also where pg gives up, for example without a password
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
