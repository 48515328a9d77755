/** The `helmdeck-memory` command: runs one command line and sets the exit code. The build's entry script checks the Node version first. */

/**
 * In MB, and in percent of what is in use. With Node's own space for new objects, garbage grows old; and old garbage is collected only
 * when the heap has grown to two or three times of what is in use. To collect more often takes a twentieth more processor time at most.
 */
const SMALL_SPACE = ["--max-semi-space-size=8", "--heap-growing-percent=50"];

const [command, ...args] = process.argv.slice(2);
if (command === "serve") startInSmallSpace();
if (command === "hook" && args[2] === "--client-settings") await hook(args);
// Not process.exit(), so that pending writes to a pipe finish.
else if (command === "install" && args[0] !== "claude") {
  const { runInstaller } = await import("./commands/install.ts");
  process.exitCode = await runInstaller(args); // with all flags, including --help
} else {
  const { main } = await import("../commands/run-program.ts");
  const { HELMDECK_MEMORY } = await import("./helmdeck-memory-program.ts");
  process.exitCode = await main(process.argv.slice(2), HELMDECK_MEMORY);
}

/**
 * Node takes these flags only when it starts, so the process executes itself again: with the same id, streams, variables and
 * signals. Not on Windows, which cannot; not for who chose a size; nor where other open files count: a parent's channel, or `<(command)`.
 */
function startInSmallSpace(): void {
  const { execPath, execArgv, argv, env, channel } = process;
  const isChosen = [...execArgv, env.NODE_OPTIONS ?? ""].some((flags) =>
    /max.semi.space.size|heap.growing.percent/.test(flags),
  );
  const hasFiles = channel !== undefined || argv.some((arg) => /\/(dev|self)\/fd\//.test(arg));
  if (isChosen || hasFiles || process.platform === "win32") return;
  try {
    process.execve?.(execPath, [execPath, ...SMALL_SPACE, ...execArgv, ...argv.slice(1)], env);
  } catch {
    // Node's permission model forbids it.
  }
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
