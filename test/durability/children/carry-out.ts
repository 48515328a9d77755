/** Carries out a workload in a folder, key and database included, and says after each operation that it is done. */
import { writeSync } from "node:fs";
import { carryOut, operationsOf } from "../operations.ts";
import { driverNamed, openIn } from "../place.ts";

const [driverName, folder = "", seed, length] = process.argv.slice(2);
const driver = driverNamed(driverName);

/** Straight to the pipe, so that it is seen where it belongs among the system calls. */
function acknowledge(done: number): void {
  writeSync(1, `${JSON.stringify({ done })}\n`);
}

let store = await openIn(folder, driver);
acknowledge(0);
for (const [n, operation] of operationsOf(Number(seed), Number(length)).entries()) {
  if (operation.do === "reopen") {
    await store.close();
    store = await openIn(folder, driver);
  } else await carryOut(store, operation);
  acknowledge(n + 1);
}
await store.close();
