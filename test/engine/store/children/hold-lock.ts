/** Runs SQL on a file, reports the result, and keeps the connection until its input ends. */

import { say } from "./say.ts";
import { driverNamed } from "./sqlite-child.ts";

const [driver, path = "", ...statements] = process.argv.slice(2);
const connection = await driverNamed(driver).open(path, "write");
for (const sql of statements) connection.exec(sql);
say({ held: true });
process.stdin.on("end", () => connection.close());
process.stdin.resume();
