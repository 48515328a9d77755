/** Creates key and database in a folder, stores something, and keeps the database open until it receives input. */
import { once } from "node:events";
import { carryOut } from "../operations.ts";
import { driverNamed, openIn } from "../place.ts";

const [driverName, folder = ""] = process.argv.slice(2);
const store = await openIn(folder, driverNamed(driverName));
await carryOut(store, { do: "put", facts: [{ key: "editor", value: "vim" }] });
console.log(JSON.stringify({ done: true }));
await once(process.stdin, "data");
await store.close();
process.stdin.destroy();
