/** The `helmdeck-here` command: runs one command line and sets the exit code. The build's entry script checks the Node version first. */
import { main } from "../commands/run-program.ts";
import { HELMDECK_HERE } from "./here-program.ts";

// Not process.exit(), so that pending writes to a pipe finish.
process.exitCode = await main(process.argv.slice(2), HELMDECK_HERE);
