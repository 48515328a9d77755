/** What doctor says of the keys in use by their ids: a change that is not finished, and a former key that was not destroyed. */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { StoreReport } from "../../engine/index.ts";
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
    message: `The key is being changed from ${former} to ${current}, and that is not finished: both open everything.`,
    remedy: "Run helmdeck-memory rotate-key again; where the key is not in a file of ours, with --finish.",
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
    message: `A former key is still in ${join(folder, name)}: with it, older backups can be read.`,
    remedy: "Once a new backup is made, destroy it, and every copy of it.",
  }));
}
