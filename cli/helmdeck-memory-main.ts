/** The `helmdeck-memory` command: runs one command line and sets the exit code. The build's entry script checks the Node version first. */

const [command, ...args] = process.argv.slice(2);
if (command === "hook" && args[2] === "--client-settings") await hook(args);
// Not process.exit(), so that pending writes to a pipe finish.
else if (command === "install" && args[0] !== "claude") process.exitCode = await install(args);
else {
  const { main } = await import("../commands/run-program.ts");
  const { HELMDECK_MEMORY } = await import("./helmdeck-memory-program.ts");
  process.exitCode = await main(process.argv.slice(2), HELMDECK_MEMORY);
}

/** Passes all flags on, including --help. */
async function install(flags: readonly string[]): Promise<number> {
  const { runInstaller } = await import("./commands/install.ts");
  return runInstaller(flags);
}

/** As packages run it. Without the parser of command lines, which takes longer to load than the facts. */
async function hook([client = "", event = "", , settingsFile]: readonly string[]): Promise<never> {
  process.on("uncaughtException", () => process.exit(0));
  const { runHook } = await import("./clients/hook.ts");
  const { thisShell } = await import("../commands/shell.ts");
  process.stdout.on("error", () => {});
  await runHook({ client, event, settingsFile }, thisShell(), performance.now());
  // Whatever is not done by now is late.
  process.exit(0);
}
