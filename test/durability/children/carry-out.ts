/** Carries out a workload in a folder that also contains the key, and reports the result of each operation. */
import { writeSync } from "node:fs";
import { isHelmdeckError } from "../../../engine/errors.ts";
import type { MemoryStore } from "../../../engine/store/memory-store.ts";
import { carryOut, type Operation, operationsOf } from "../operations.ts";
import { driverNamed, openIn } from "../place.ts";

const [driverName, folder = "", seed, length] = process.argv.slice(2);
const driver = driverNamed(driverName);
let store: MemoryStore | undefined;

/** Writes directly to the pipe, so that the trace shows the report at its true position among the system calls. */
function say(line: Readonly<Record<string, unknown>>): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

async function attempt(n: number, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
    say({ done: n });
  } catch (error) {
    const code = isHelmdeckError(error) ? error.code : "untyped";
    say({ refused: n, code, why: reasonOf(error), wasOpen: store !== undefined });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${reasonOf(error.cause)})`;
}

async function opened(): Promise<MemoryStore> {
  store ??= await openIn(folder, driver);
  return store;
}

async function close(): Promise<void> {
  const closing = store;
  store = undefined;
  await closing?.close();
}

async function perform(operation: Operation): Promise<void> {
  if (operation.do === "reopen") await close();
  await carryOut(await opened(), operation);
}

await attempt(0, opened);
const operations = operationsOf(Number(seed), Number(length));
for (const [n, operation] of operations.entries()) await attempt(n + 1, () => perform(operation));
await attempt(operations.length + 1, close);
