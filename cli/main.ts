#!/usr/bin/env node
/** The `helmdeck-memory` command: checks the runtime, runs one command, and sets the exit code. */

// Nothing is imported before this: an older Node would die on the first import with a stack trace.
const OLDEST_NODE = [24, 16] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isSupported = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);

if (isSupported) {
  const { main } = await import("./run.ts");
  process.exitCode = await main(process.argv.slice(2));
} else {
  const needed = OLDEST_NODE.join(".");
  process.stderr.write(
    `runtime_unsupported: helmdeck-memory needs Node ${needed} or later, and this is ${process.version}. Install a newer Node and try again.\n`,
  );
  process.exitCode = 1;
}
