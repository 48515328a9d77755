/** Prints the answer of statePath for an account that may not read one file or folder. */
import { chmodSync } from "node:fs";
import { isHelmdeckError } from "../../../engine/errors.ts";
import { betterSqliteDriver } from "../../../engine/store/sqlite/better-sqlite-driver.ts";
import { createSeam } from "../../../seam/index.ts";

const [repo = "", locked = "", folder = ""] = process.argv.slice(2);
chmodSync(folder, 0o755);
chmodSync(locked, 0o000);
if (process.getuid?.() === 0) process.setuid?.(65_534);
const place = {
  databasePath: `${folder}/none`,
  keyPath: `${folder}/none.key`,
  env: {},
  driver: betterSqliteDriver,
};
const seam = createSeam({ memory: place, subject: "main", rank: async () => [], cwd: repo });
console.log(
  await seam
    .statePath({}, "plan")
    .catch((error: unknown) => (isHelmdeckError(error) ? `${error.code}: ${error.message}` : String(error))),
);
