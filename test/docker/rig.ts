/** What the Docker tests share: the engine's client, and install.sh run as a person runs it, its JSON answer checked. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { inject } from "vitest";
import type { StepOutcome } from "../../install/steps.ts";

export interface Installed {
  readonly code: number;
  readonly text: string;
  readonly report: Report;
}

export interface Report {
  readonly exitCode: number;
  readonly plan: readonly StepOutcome["step"][];
  readonly steps: readonly StepOutcome[];
  readonly warnings: readonly string[];
  readonly missing: readonly { readonly what: string; readonly remedy: string }[];
  readonly error?: string;
}

export const engineMissing = () => inject("engineMissing");

type Env = Readonly<Record<string, string>>;

/** `install.sh --json <args>` of the package, as a shell would run it. */
export async function installer(env: Env, ...args: readonly string[]): Promise<Installed> {
  const script = join(inject("packageRoot"), "install", "install.sh");
  const { code, stdout, stderr } = await run("sh", [script, "--json", ...args], env);
  const text = stdout + stderr;
  if (!stdout.startsWith("{")) throw new Error(`install.sh gave no JSON (${code}):\n${text}`);
  return { code, text, report: JSON.parse(stdout) as Report };
}

export async function docker(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run("docker", args, {
    PATH: process.env.PATH ?? "",
    ...inject("engineEnv"),
  });
  if (code !== 0) throw new Error(`docker ${args.join(" ")} ended with ${code}: ${stderr}`);
  return stdout.trim();
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
