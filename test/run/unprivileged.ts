/** Root may read and write everywhere, so tests of file permissions run in a process without root's rights. */
import { execFileSync } from "node:child_process";
import { chownSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";

const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;
const GIVE_UP = `process.setgroups([]); process.setgid(${NOBODY}); process.setuid(${NOBODY});`;

/**
 * With these flags before the script's name, Node gives up root's rights before it reads the script. Node itself starts as root,
 * because its folder may be closed to other accounts. The script's folder must be open to them (bundles.ts).
 */
export const unprivilegedFlags: readonly string[] = IS_ROOT
  ? ["--import", `data:text/javascript,${encodeURIComponent(GIVE_UP)}`]
  : [];

/** Why no process of a test can be bound by file modes, if so. */
export const whyNotUnprivileged = findWhyNot();

/** Makes the unprivileged account the owner of a folder and its contents. */
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
