/**
 * Checks a database's integrity in a thread of its own: SQLite reads the whole file in one call, and would stop the event loop
 * meanwhile.
 *
 * The thread loads the library that may have the file open in this process, so both use one copy of SQLite, which knows of all
 * its connections: closing one drops no lock of another.
 */
import { Worker } from "node:worker_threads";

export interface CheckedFile {
  readonly path: string;
  /** The library's module, by its name or address. */
  readonly library: string;
  /** The library's options to open a file for reading. */
  readonly options: Readonly<Record<string, boolean>>;
}

/** In the text itself, so that no bundle needs a file for it. */
const THREAD = `
  import { parentPort, workerData } from "node:worker_threads";
  const library = await import(workerData.library);
  const Database = library.DatabaseSync ?? library.default;
  const isWhole = () => {
    const database = new Database(workerData.path, workerData.options);
    try {
      database.exec("PRAGMA busy_timeout = 5000");
      return database.prepare("PRAGMA integrity_check(1)").get().integrity_check === "ok";
    } catch {
      return false;
    } finally {
      database.close();
    }
  };
  parentPort.postMessage(isWhole());
`;

/** Whether every page of the database and its log is sound. */
export function isWholeInThread(file: CheckedFile): Promise<boolean> {
  const source = new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`);
  const thread = new Worker(source, {
    name: "helmdeck-memory-check",
    workerData: file,
    argv: [],
    execArgv: [],
  });
  return new Promise((resolve, reject) => {
    thread.once("message", resolve);
    thread.once("error", reject);
    thread.once("exit", () => reject(new Error("The thread that checks the database ended early."))); // not after an answer
  });
}
