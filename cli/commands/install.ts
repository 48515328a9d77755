/** `helmdeck-memory install`: runs install.sh of this package with the same flags, in the same terminal, to the same exit code. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { EXIT_FAILED } from "../../commands/index.ts";

/** The same way up from this file and from its place in the build, dist/chunks. */
const SCRIPT = fileURLToPath(new URL("../../install/install.sh", import.meta.url));

export async function runInstaller(flags: readonly string[]): Promise<number> {
  const { env, execPath } = process;
  // What the installer says to run can then be typed.
  const called = env.npm_command === "exec" ? "npx helmdeck-memory install" : "helmdeck-memory install";
  const installer = spawn("sh", [SCRIPT, ...flags], {
    env: { ...env, HELMDECK_NODE: execPath, HELMDECK_INSTALLER: called },
    stdio: "inherit",
  });
  // Ctrl-C reaches the installer by itself, and it ends first; other signals are sent to this process alone.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => installer.kill(signal));
  const [code] = await once(installer, "exit");
  return typeof code === "number" ? code : EXIT_FAILED;
}
