/** Root may read and write everywhere, so what depends on permissions is tried by a process that has given up root's rights. */
import { execFileSync } from "node:child_process";
import { chownSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";

const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;
const GIVE_UP = `process.setgroups([]); process.setgid(${NOBODY}); process.setuid(${NOBODY});`;

/**
 * Before the program's name, these make Node give up root's rights before it reads the program. Node itself is started with
 * them, since it may lie where nobody else can enter; the program must not (bundles.ts).
 */
export const unprivilegedFlags: readonly string[] = IS_ROOT
  ? ["--import", `data:text/javascript,${encodeURIComponent(GIVE_UP)}`]
  : [];

/** Why file modes bind no process that a test could start, if so. */
export const whyNotUnprivileged = findWhyNot();

/** Gives a folder and all in it to the account that file modes bind. */
export function handToUnprivileged(folder: string): void {
  if (!IS_ROOT) return;
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const path of [folder, ...names.map((name) => join(folder, name))]) chownSync(path, NOBODY, NOBODY);
}

function findWhyNot(): string | undefined {
  if (process.getuid === undefined) return "this system has no file modes";
  if (!IS_ROOT) return undefined;
  const look = "require('node:fs').readdirSync(process.argv[1])";
  try {
    execFileSync(process.execPath, [...unprivilegedFlags, "-e", look, inject("runFolder")], {
      stdio: "pipe",
    });
    return undefined;
  } catch {
    return "root cannot give up its rights here, or the folder for temporary files is closed to other accounts";
  }
}
