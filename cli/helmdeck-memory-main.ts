/** The `helmdeck-memory` command: runs one command line and sets the exit code. The build's entry script checks the Node version first. */
import { main } from "../commands/run-program.ts";
import { HELMDECK_MEMORY } from "./helmdeck-memory-program.ts";

const [command, ...flags] = process.argv.slice(2);
// Not process.exit(), so that pending writes to a pipe finish.
process.exitCode =
  command === "install"
    ? await (await import("./commands/install.ts")).runInstaller(flags) // passes all flags on, including --help
    : await main(process.argv.slice(2), HELMDECK_MEMORY);
