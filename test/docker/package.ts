/** The package as npm installs it: the built files, install.sh and the compose files, in a folder of their own. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { buildAll, DIST, ROOT } from "../../scripts/build/build.ts";
import { LOCKED_OPENCLAW, type OpenClawRuntime } from "../../scripts/openclaw-host/runtime.ts";

/** Returns the folder. It uses the repository's node_modules. */
export async function makePackage(): Promise<string> {
  await buildAll();
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "hd-package-"));
  cpSync(DIST, join(folder, "dist"), { recursive: true });
  mkdirSync(join(folder, "install"));
  cpSync(join(ROOT, "install", "install.sh"), join(folder, "install", "install.sh"));
  for (const name of readdirSync(ROOT).filter((file) => file.startsWith("compose.embeddings")))
    cpSync(join(ROOT, name), join(folder, name));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** A path that begins with a folder for `openclaw`, followed by the pinned Node and everything else. */
export function pathWithOpenClaw(folder: string, { node, entry }: OpenClawRuntime = LOCKED_OPENCLAW): string {
  mkdirSync(folder, { recursive: true });
  const script = `#!/bin/sh\nexec "${node}" "${entry}" "$@"\n`;
  writeFileSync(join(folder, "openclaw"), script, { mode: 0o755 });
  return [folder, dirname(process.execPath), process.env.PATH ?? ""].join(delimiter);
}
