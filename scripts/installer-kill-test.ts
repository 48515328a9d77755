/**
 * Kills install.sh in each of its steps, and sees that what is left is the old or the new state, that the next run finishes the
 * job, and that --uninstall leaves nothing. Takes half an hour: `node scripts/installer-kill-test.ts [STEP…]`.
 *
 * Each step is killed (SIGKILL, the whole process group) once as it begins and once a moment later, where its work is under way.
 * Prints a line for each kill and exits 1 when one of them went wrong.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Engine } from "../test/docker/engine.ts";
import { makeOllamaImage } from "../test/docker/images.ts";
import { makePackage, pathWithOpenClaw } from "../test/docker/package.ts";
import { OpenClawHost } from "./openclaw-host.ts";

/** In the order of a plan; the title that the step's line begins with. */
const STEPS: Readonly<Record<string, string>> = {
  "create-network": "create the Docker network",
  "start-sidecar": "start the embedding sidecar",
  "pull-model": "download the model",
  "make-key": "make the memory's key",
  "check-embedding": "see that nomic-embed-text embeds",
  "back-up-config": "keep a copy of",
  "install-plugin": "install the plugin",
  "point-search": "point OpenClaw's memory.search",
  "index-notes": "let OpenClaw index its notes",
  prove: "prove that",
};
/** After the step's line appeared. */
const MOMENTS_MS = [0, 1_500];

async function main(only: readonly string[]): Promise<number> {
  const root = await makePackage();
  const engine = await Engine.start();
  let failures = 0;
  try {
    await makeOllamaImage(engine);
    const steps = Object.keys(STEPS).filter((step) => only.length === 0 || only.includes(step));
    for (const step of steps) {
      for (const momentMs of MOMENTS_MS) {
        const complaint = await killOnce(root, engine, step, momentMs);
        if (complaint !== undefined) failures += 1;
        console.log(
          `${complaint === undefined ? "✓" : "!"} ${step}, ${momentMs} ms in: ${complaint ?? "finished by the next run, taken back without a trace"}`,
        );
      }
    }
  } finally {
    await engine.stop();
    rmSync(root, { recursive: true, force: true });
  }
  console.log(failures === 0 ? "Every kill was survived." : `${failures} kills went wrong.`);
  return failures === 0 ? 0 : 1;
}

async function killOnce(
  root: string,
  engine: Engine,
  step: string,
  momentMs: number,
): Promise<string | undefined> {
  const host = await OpenClawHost.make({
    notes: { "MEMORY.md": "# Notes\n\nKonflux builds.\n" },
    env: engine.env,
  });
  const env = { ...host.home.env, PATH: pathWithOpenClaw(join(host.home.root, "bin")) };
  const config = () => JSON.parse(readFileSync(host.home.configPath, "utf8"));
  try {
    const { meta: _, ...before } = config();
    await killAt(root, env, STEPS[step] ?? step, momentMs);
    const { provider } = config().memory.search;
    if (provider !== "none" && provider !== "ollama") return `memory.search.provider is ${provider}`;
    const again = await installed(root, env, "--yes");
    if (again.code !== 0) return `the next run ended with ${again.code}:\n${again.end}`;
    if (config().memory.search.provider !== "ollama") return "the next run did not point the search";
    const gone = await installed(root, env, "--uninstall", "--purge", "--yes");
    if (gone.code !== 0) return `--uninstall ended with ${gone.code}:\n${gone.end}`;
    const { meta: __, ...after } = config();
    if (JSON.stringify(after) !== JSON.stringify(before)) return "the configuration is not what it was";
    const left = await engine.docker("ps", "-aq");
    return left === "" ? undefined : "a container is left";
  } finally {
    await host.stop();
    await engine.try("network", "rm", "baas-net");
  }
}

/** Runs the installer until the step's line appears, and then no further. */
async function killAt(root: string, env: Env, title: string, momentMs: number): Promise<void> {
  const child = start(root, env, ["--yes"]);
  const ended = once(child, "exit");
  let said = "";
  const begun = new Promise<void>((resolve) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      said += String(chunk);
      if (said.includes(`==> ${title}`)) resolve();
    });
  });
  await Promise.race([begun, ended]);
  await pause(momentMs);
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  await ended;
}

interface Ended {
  readonly code: number | null;
  /** The last of what it said. */
  readonly end: string;
}

async function installed(root: string, env: Env, ...args: readonly string[]): Promise<Ended> {
  const child = start(root, env, args);
  const ended = once(child, "exit");
  let said = "";
  for await (const chunk of child.stdout ?? []) said += String(chunk);
  await ended;
  return { code: child.exitCode, end: said.trimEnd().split("\n").slice(-4).join("\n") };
}

type Env = Readonly<Record<string, string>>;

function start(root: string, env: Env, args: readonly string[]): ChildProcess {
  const script = join(root, "install", "install.sh");
  return spawn("sh", [script, ...args], { env, detached: true, stdio: ["ignore", "pipe", "inherit"] });
}

process.exitCode = await main(process.argv.slice(2));
