/** The entry point of `dist/install.mjs`, which install.sh runs. */
import { fileURLToPath } from "node:url";
import { install } from "./installer.ts";

// The compose files are next to dist/, in a clone and in the npm package.
const root = fileURLToPath(new URL("..", import.meta.url));
process.exitCode = await install(process.argv.slice(2), root);
