/** Loads or creates a key and prints a mark that identifies it, or the error's code. */
import { isHelmdeckError } from "../../../../engine/errors.ts";
import { loadOrMakeKey } from "../../../../engine/store/find-key.ts";

const [keyPath = "", databasePath = ""] = process.argv.slice(2);
try {
  const { key, made } = await loadOrMakeKey({ env: {}, keyPath, databasePath });
  console.log(JSON.stringify({ mark: Buffer.from(key.deriveBytes("test mark", 8)).toString("hex"), made }));
} catch (error) {
  console.log(JSON.stringify({ code: isHelmdeckError(error) ? error.code : String(error) }));
}
