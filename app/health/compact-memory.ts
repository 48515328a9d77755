/** Writing a database anew that an older program made, so that the space of what is forgotten returns from then on. */
import { compactDatabase, findKey } from "../../engine/index.ts";
import type { OpenMemoryOptions } from "../open-memory-options.ts";
import { fileFacts } from "./private-files.ts";

/** False when there was nothing to do. Throws `store_full` where twice its size is not free, `store_locked` when others are at work. */
export async function compactMemory(options: OpenMemoryOptions): Promise<boolean> {
  const { databasePath: path, driver, server } = options;
  if (server !== undefined) return false; // its own vacuum does that
  if ((await fileFacts(path)).kind === "absent") return false;
  const found = await findKey(options);
  return found !== undefined && compactDatabase({ path, key: found.key, driver });
}
