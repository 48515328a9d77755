/**
 * Kills install.sh in each of its steps. Checks that the old or the new state is left, that the next run completes the installation, and
 * that --uninstall then leaves nothing. Takes three quarters of an hour: `node test/docker/installer-kill-run.ts [STEP[@MS]…]`.
 *
 * Each step is killed twice (SIGKILL, the whole process group): at its start, and shortly after during its work. Prints a table row for
 * each kill, and exits with 1 if one of them fails a check.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { Engine } from "./engine.ts";
import { makeOllamaImage } from "./images.ts";
import { makePackage, pathWithOpenClaw } from "./package.ts";

/** In the order of a plan, with the beginning of the title in the step's output line. */
const STEPS: Readonly<Record<string, string>> = {
  "create-network": "create the Docker network",
  "start-sidecar": "start the sidecar, Ollama in Docker",
  "pull-model": "download the model",
  "make-key": "create the memory's key",
  "check-embedding": "check that nomic-embed-text embeds",
  "back-up-config": "keep a copy of",
  "install-plugin": "install the plugin",
  "point-facts": "let nomic-embed-text on",
  "point-search": "point OpenClaw's memory.search",
  "index-notes": "rebuild OpenClaw's index",
  prove: "check that memory_search",
};
/** Milliseconds after the step's output line appeared. */
const MOMENTS_MS = [0, 1_500];

async function main(only: readonly string[]): Promise<number> {
  const root = await makePackage();
  const engine = await Engine.start();
  let failures = 0;
  try {
    await makeOllamaImage(engine);
    console.log("| step | killed | left behind | the next run, and --uninstall |\n|---|---|---|---|");
    for (const { step, momentMs } of killsOf(only)) {
      const { where, left, complaint } = await killOnce(root, engine, step, momentMs);
      if (complaint !== undefined) failures += 1;
      const end = complaint ?? "✓ finished; taken back without a trace";
      console.log(`| ${step} | ${momentMs} ms in, ${where} | ${left} | ${end.replaceAll("\n", " ")} |`);
    }
  } finally {
    await engine.stop();
    rmSync(root, { recursive: true, force: true });
  }
  console.log(failures === 0 ? "Every kill was survived." : `${failures} kills went wrong.`);
  return failures === 0 ? 0 : 1;
}

/** The kills that the arguments name as STEP or STEP@MOMENT. Without arguments, all of them. */
function killsOf(only: readonly string[]): readonly { readonly step: string; readonly momentMs: number }[] {
  const all = Object.keys(STEPS).flatMap((step) => MOMENTS_MS.map((momentMs) => ({ step, momentMs })));
  const isNamed = (step: string, momentMs: number) =>
    only.includes(step) || only.includes(`${step}@${momentMs}`);
  return only.length === 0 ? all : all.filter(({ step, momentMs }) => isNamed(step, momentMs));
}

interface Killed {
  /** The step whose output line came last. */
  readonly where: string;
  readonly left: string;
  /** Undefined if every check passed. */
  readonly complaint: string | undefined;
}

async function killOnce(root: string, engine: Engine, step: string, momentMs: number): Promise<Killed> {
  const host = await OpenClawHost.make({
    notes: { "MEMORY.md": "# Notes\n\nKonflux builds.\n" },
    // The usual case: nobody chose a provider.
    config: { memory: null },
    env: engine.env,
  });
  const env = { ...host.home.env, PATH: pathWithOpenClaw(join(host.home.root, "bin")) };
  try {
    const before = authored(host);
    const where = await killAt(root, env, STEPS[step] ?? step, momentMs);
    const left = await leftBehind(host, engine);
    const complaint = left.complaint ?? (await finishedAndTakenBack(host, engine, before, { root, env }));
    return { where, left: left.text, complaint };
  } finally {
    await host.stop();
    await engine.try("network", "rm", "baas-net");
  }
}

/** Checks that each part is in the old or the new state, and none in between. */
async function leftBehind(
  host: OpenClawHost,
  engine: Engine,
): Promise<{ readonly text: string; readonly complaint: string | undefined }> {
  const { memory, plugins } = authored(host);
  const provider = memory?.search?.provider;
  const entry = plugins?.entries?.["helmdeck-memory"];
  const embeddings = entry?.config?.embeddings;
  const keyFile = join(host.home.stateDir, "helmdeck-memory.key");
  const key = existsSync(keyFile) ? readFileSync(keyFile, "utf8").trim() : undefined;
  const [network, container] = await Promise.all([
    engine.docker("network", "ls", "-q", "-f", "name=baas-net"),
    engine.docker("ps", "-a", "--format", "{{.Names}}"),
  ]);
  const isWhole = [
    provider === undefined || (provider === "ollama" && memory.search.remote.baseUrl !== undefined),
    embeddings === undefined || (embeddings.provider === "ollama" && embeddings.url !== undefined),
    key === undefined || /^[\da-f]{64}$/.test(key),
  ].every(Boolean);
  const parts = [
    [network !== "", "network"],
    [container !== "", "container"],
    [key !== undefined, "key"],
    [entry !== undefined, "plugin"],
    [embeddings !== undefined, "facts pointed"],
    [provider === "ollama", "search pointed"],
  ] as const;
  const there = parts.filter(([isThere]) => isThere).map(([, name]) => name);
  return {
    text: there.length === 0 ? "nothing" : there.join(", "),
    complaint: isWhole ? undefined : "something is neither old nor new",
  };
}

interface Machine {
  readonly root: string;
  readonly env: Env;
}

/** The failures of the next run and of the uninstallation. Undefined if there are none. */
async function finishedAndTakenBack(
  host: OpenClawHost,
  engine: Engine,
  before: unknown,
  { root, env }: Machine,
): Promise<string | undefined> {
  const again = await installed(root, env, "--yes");
  if (again.code !== 0) return `the next run ended with ${again.code}: ${again.end}`;
  const { memory, plugins } = authored(host);
  const pointed = [memory.search.provider, plugins.entries["helmdeck-memory"].config.embeddings.provider];
  if (pointed.join() !== "ollama,ollama") return `the next run left the providers at ${pointed.join()}`;
  const gone = await installed(root, env, "--uninstall", "--purge", "--yes");
  if (gone.code !== 0) return `--uninstall ended with ${gone.code}: ${gone.end}`;
  if (JSON.stringify(authored(host)) !== JSON.stringify(before))
    return "the configuration is not what it was";
  const index = await host.openclaw(["memory", "index"]);
  if (index.code !== 0) return `OpenClaw does not index its notes any more: ${index.stderr.trim()}`;
  // The copy may remain: after a kill between a write and its journal record, settings are restored one by one.
  const journal = join(
    host.home.root,
    "home",
    ".local",
    "state",
    "helmdeck-memory",
    "install",
    "journal.json",
  );
  if (existsSync(journal)) return "the journal is left";
  return (await engine.docker("ps", "-aq")) === "" ? undefined : "a container is left";
}

/** The configuration without the metadata that OpenClaw adds at each write. */
function authored(host: OpenClawHost) {
  const { meta: _, ...config } = JSON.parse(readFileSync(host.home.configPath, "utf8"));
  return config;
}

/** Runs the installer until the step's line appears, then kills it. Returns the step that it was in. */
async function killAt(root: string, env: Env, title: string, momentMs: number): Promise<string> {
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
  const isRunning = child.pid !== undefined && child.exitCode === null;
  if (isRunning) process.kill(-Number(child.pid), "SIGKILL");
  await ended;
  if (!isRunning) return "too late: it had ended";
  const last = said.slice(said.lastIndexOf("==> ") + 4);
  return Object.entries(STEPS).find(([, begins]) => last.startsWith(begins))?.[0] ?? "between two steps";
}

interface Ended {
  readonly code: number | null;
  /** The last part of its output. */
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
