/** Doctor's findings about keys, by their ids: an unfinished change of keys, and a former key that was not destroyed. */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { StoreReport } from "../../engine/store/memory-store.ts";
import type { Finding } from "../memory.ts";

export async function rotationFindings(
  { keys }: StoreReport,
  file: string | undefined,
): Promise<readonly Finding[]> {
  if (keys === undefined) return [];
  return [
    keys.former === undefined ? inUse(keys.current) : unfinished(keys.former, keys.current),
    ...(await formerFiles(file)),
  ];
}

function inUse(id: string): Finding {
  return { level: "ok", check: "key", message: `The key in use is ${id}.` };
}

function unfinished(former: string, current: string): Finding {
  return {
    level: "warning",
    check: "key",
    message: `The key is being changed from ${former} to ${current}. The change is not finished, and both keys open everything.`,
    remedy: "Run helmdeck-memory rotate-key again. If you keep the key elsewhere, add --finish.",
  };
}

async function formerFiles(file: string | undefined): Promise<readonly Finding[]> {
  if (file === undefined) return [];
  const folder = dirname(file);
  const names = await readdir(folder).catch(() => []);
  const former = names.filter((name) => name.startsWith(`${basename(file)}.former-`)).sort();
  return former.map((name) => ({
    level: "warning",
    check: "key",
    message: `A former key is still in ${join(folder, name)}. It can still open older backups.`,
    remedy: "Make a new backup, then destroy that key and every copy of it.",
  }));
}
