/**
 * Shared code of the Docker tests: a Docker engine for each test file, its client, and runs of install.sh.
 *
 * Each file has its own engine, because the sidecar and its network have fixed names. This lets the files run in parallel.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { inject } from "vitest";
import type { StepOutcome } from "../../install/report.ts";
import { Engine } from "./engine.ts";

export interface Installed {
  readonly code: number;
  readonly text: string;
  readonly report: Report;
}

export interface Report {
  readonly exitCode: number;
  readonly kept: readonly string[];
  readonly plan: readonly StepOutcome["step"][];
  readonly steps: readonly StepOutcome[];
  readonly warnings: readonly string[];
  readonly missing: readonly { readonly what: string; readonly remedy: string }[];
  readonly error?: string;
}

export const engineMissing = () => inject("engineMissing");

type Env = Readonly<Record<string, string>>;

let engine: Engine | undefined;

/** Starts an engine with these images. Returns the environment that points its client to it. */
export async function startEngine(
  ...makeImages: readonly ((engine: Engine) => Promise<void>)[]
): Promise<Env> {
  const began = performance.now();
  engine = await Engine.start();
  const started = performance.now();
  for (const makeImage of makeImages) await makeImage(engine);
  console.log(`engine ${seconds(started - began)}, images ${seconds(performance.now() - started)}`);
  return { ...engine.env };
}

export async function stopEngine(): Promise<void> {
  await engine?.stop();
}

/** Runs `install.sh --json <args>` of the package, as from a shell. */
export async function installer(env: Env, ...args: readonly string[]): Promise<Installed> {
  const script = join(inject("packageRoot"), "install", "install.sh");
  const began = performance.now();
  const { code, stdout, stderr } = await run("sh", [script, "--json", ...args], env);
  const text = stdout + stderr;
  if (!stdout.startsWith("{")) throw new Error(`install.sh gave no JSON (${code}):\n${text}`);
  const report = JSON.parse(stdout) as Report;
  console.log(`install.sh ${args.join(" ")}: ${timesOf(report, performance.now() - began)}`);
  return { code, text, report };
}

/** The duration of the inspection and of each step, to help keep the time budget. */
function timesOf({ steps }: Report, allMs: number): string {
  const looking = allMs - steps.reduce((sum, { ms }) => sum + ms, 0);
  const each = steps.map(({ step, ms }) => `${step.kind} ${seconds(ms)}`);
  return [seconds(allMs), `looking ${seconds(looking)}`, ...each].join(", ");
}

export async function docker(...args: readonly string[]): Promise<string> {
  if (engine === undefined) throw new Error("no engine was started");
  return engine.docker(...args);
}

export function run(
  file: string,
  args: readonly string[],
  env: Env,
  cwd?: string,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    execFile(file, [...args], { env, maxBuffer: 64e6, ...(cwd && { cwd }) }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error ? 1 : 0, stdout, stderr });
    });
  });
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
