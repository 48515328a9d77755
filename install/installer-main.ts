/** `dist/install.mjs`, which install.sh runs: does the work and sets the exit code. */
import { fileURLToPath } from "node:url";
import { install } from "./installer.ts";

// Beside dist/ lie the compose files, in a clone and in the npm package alike.
const root = fileURLToPath(new URL("..", import.meta.url));
process.exitCode = await install(process.argv.slice(2), root);
