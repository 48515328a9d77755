/** The `helmdeck-memory` command: runs one command line and sets the exit code. The build's front checks the Node before. */
import { main } from "../commands/index.ts";
import { HELMDECK_MEMORY } from "./helmdeck-memory-program.ts";

const [command, ...flags] = process.argv.slice(2);
// Set, not exited with: what is still being written to a pipe is written to its end.
process.exitCode =
  command === "install"
    ? await (await import("./commands/install.ts")).runInstaller(flags) // all its flags, --help too
    : await main(process.argv.slice(2), HELMDECK_MEMORY);
