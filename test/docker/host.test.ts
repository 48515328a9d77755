/**
 * install.sh against a real Docker engine and a real OpenClaw on this machine: the plan, the installation, a second run, a stopped and
 * an unresponsive sidecar, without embeddings, the smoke test, and uninstallation.
 *
 * Budget: eight minutes beside the other tests on two cores, most of it OpenClaw's own commands (3 to 15 s each).
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { sized } from "../run/size.ts";
import { readApiDescription } from "../sidecar/api-description.ts";
import { watchArguments } from "./arguments.ts";
import { makeOllamaImage } from "./images.ts";
import { pathWithOpenClaw } from "./package.ts";
import { docker, engineMissing, installer, type Report, startEngine, stopEngine } from "./rig.ts";

const NOTES = { "MEMORY.md": "# Notes\n\nKonflux is the build system at work.\n" };
const SECRET = "sk-operators-own-key-0123456789";
const FACT = { key: "deploy/preference", value: "We always deploy through Konflux, by merging to main." };

let host: OpenClawHost;
let original: string;

beforeAll(async () => {
  if (engineMissing() !== undefined) return;
  const engineEnv = await startEngine(makeOllamaImage);
  host = await OpenClawHost.make({
    notes: NOTES,
    config: {
      // The usual case: nobody chose a provider.
      memory: null,
      // A secret in the configuration, to check that it appears nowhere else.
      models: { providers: { own: { baseUrl: "http://127.0.0.1:9", apiKey: SECRET, models: [] } } },
    },
    env: engineEnv,
  });
  Object.assign(host.home.env, { PATH: pathWithOpenClaw(join(host.home.root, "bin")) });
  await host.startGateway();
  original = config();
});

afterAll(async () => {
  await host?.stop();
  await stopEngine();
});

// verifies P-install-undone, P-install-kept
describe.skipIf(engineMissing() !== undefined)("install.sh with OpenClaw on the machine", () => {
  let plan: Report["plan"];
  let secrets: ReturnType<typeof watchArguments>;

  it("shows a plan and changes nothing", async () => {
    const before = [tree(), await dockerState()];
    const { code, report } = await installer(host.home.env, "--dry-run");
    expect(code).toBe(0);
    plan = report.plan;
    expect(plan.map(({ kind }) => kind)).toEqual([
      "create-network",
      "start-sidecar",
      "pull-model",
      "make-key",
      "check-embedding",
      "back-up-config",
      "install-plugin",
      "point-facts",
      "keep-a-year",
      "point-search",
      "index-notes",
      "prove",
    ]);
    expect([tree(), await dockerState()]).toEqual(before);
  });

  it("executes the plan step by step, and tests the result", async () => {
    secrets = watchArguments([SECRET, host.home.token]);
    const env = { ...host.home.env, HELMDECK_EMBEDDINGS_MEMORY: "3g" };
    const { code, report, text } = await installer(env, "--yes");
    secrets.add(readFileSync(keyPath(), "utf8").trim());
    expect(report.error ?? report.steps.at(-1)?.error).toBeUndefined();
    expect(code).toBe(0);
    expect(report.steps.map(({ step }) => step)).toEqual(plan);
    expect(report.steps.at(-1)?.remark).toMatch(
      /OpenClaw embeds its own notes.*memory_search finds a stored fact in other words/,
    );
    const health = () => docker("inspect", "-f", "{{.State.Health.Status}}", "helmdeck-embeddings");
    await expect.poll(health).toBe("healthy");
    expect(text).not.toContain(SECRET);
    expect(statSync(keyPath()).mode & 0o777).toBe(0o600);
  });

  it("deletes its test fact, and the gateway uses the sidecar", async () => {
    const search = await host.invokeTool("memory_search", { query: "marker of the installation" });
    expect(search.text).not.toContain("install.sh/proof");
    const notes = await host.invokeTool("memory_search", { query: "build system", corpus: "memory" });
    expect(notes.details.provider).toBe("ollama");
    expect(await factsEmbedder()).toMatchObject({ provider: "ollama", url: await sidecarUrl() });
  });

  it("publishes a port only on loopback, in a container hardened as in the compose file, with the memory limit of the variable", async () => {
    const [container] = JSON.parse(await docker("inspect", "helmdeck-embeddings"));
    const ports = Object.values(container.NetworkSettings.Ports).flat() as { HostIp: string }[];
    expect(ports.map(({ HostIp }) => HostIp)).toEqual(["127.0.0.1"]);
    expect(container.HostConfig).toMatchObject({
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges:true"],
      PidsLimit: 512,
      Memory: 3 * 1024 ** 3,
      Privileged: false,
    });
  });

  it("sends the service only requests of Ollama's API", async () => {
    const description = await readApiDescription();
    const seen = await sidecarRequests();
    expect(seen.map(({ path }) => path)).toEqual(expect.arrayContaining(["/api/pull", "/api/embed"]));
    const faults = seen.flatMap(({ method, path, body }) => description.requestFaults(method, path, body));
    expect(faults).toEqual([]);
  });

  it("changes nothing the second time, and keeps the memory limit without its variable", async () => {
    const before = [config(), journal(), await dockerState()];
    const { code, report } = await installer(host.home.env, "--yes");
    expect(code).toBe(0);
    expect(report.kept).toEqual(["HELMDECK_EMBEDDINGS_MEMORY=3g"]);
    expect(report.plan.map(({ kind }) => kind)).toEqual(["check-embedding", "prove"]);
    expect([config(), journal(), await dockerState()]).toEqual(before);
  });

  // verifies P-quiet-sidecar
  it("with a dead sidecar: memory_search gives the reason, helmdeck's facts are still found, and search recovers by itself", async () => {
    await host.invokeTool("helmdeck__memory_store", FACT);
    await docker("kill", "helmdeck-embeddings");
    const search = await host.invokeTool("memory_search", { query: "deploy Konflux" });
    expect(search.text).toContain("helmdeck/user_facts/deploy/preference.md");
    expect(search.text).toContain("unavailable");
    const { code, report } = await installer(host.home.env, "--yes");
    expect(report.plan[0]?.kind).toBe("start-sidecar");
    expect(report.steps.at(-1)?.error).toBeUndefined();
    expect(code).toBe(0);
  });

  it.runIf(sized(false, true))("with a hanging sidecar: helmdeck's facts are still found", async () => {
    await setFault({ kind: "hang", path: "/api/embed" });
    const search = await host.invokeTool("memory_search", { query: "deploy Konflux" });
    await setFault(null);
    expect(search.text).toContain("helmdeck/user_facts/deploy/preference.md");
  });

  it("--no-embeddings stops the sidecar, keeps its models and restores the provider", async () => {
    const off = await installer(host.home.env, "--yes", "--no-embeddings");
    expect(off.report.steps.at(-1)?.error).toBeUndefined();
    expect(off.code).toBe(0);
    expect(off.report.steps.at(-1)?.remark).toBe("memory_search finds a stored fact by its own words");
    expect(JSON.parse(config()).memory).toEqual(JSON.parse(original).memory);
    expect(off.report.warnings.join()).not.toContain("index");
    await expectNewNoteFound("2026-11-20.md", "The giraffe naps under the acacia.", "giraffe acacia");
    expect(JSON.parse(config()).plugins.entries["helmdeck-memory"]).toEqual({
      enabled: true,
      config: { embeddings: { provider: "none" }, lifetimeDays: 365 },
    });
    expect(await factsEmbedder()).toEqual({ provider: "none" });
    expect(await docker("ps", "-aq")).toBe("");
    expect(await docker("volume", "ls", "-q")).toContain("helmdeck-embeddings-models");
  });

  it("--verify without a gateway starts one for the smoke test and stops it afterwards", async () => {
    await host.stopGateway();
    const { code, report } = await installer(host.home.env, "--verify");
    expect(report.steps).toMatchObject([
      { step: { kind: "prove", gateway: "for-the-proof" }, outcome: "done" },
    ]);
    expect(code).toBe(0);
    const { stdout } = await host.run("ps", ["axeww", "-o", "args="]);
    const ours = stdout.split("\n").filter((line) => line.includes(`HOME=${join(host.home.root, "home")}`));
    expect(ours.filter((line) => /^openclaw-gateway|gateway run/.test(line))).toEqual([]);
  });

  it("--uninstall reverts all changes and keeps the memory", async () => {
    const { code, report } = await installer(host.home.env, "--uninstall", "--yes");
    expect(report.steps.at(-1)?.error).toBeUndefined();
    expect(code).toBe(0);
    expect(report.warnings.join()).not.toContain("index");
    const { meta: _, ...now } = JSON.parse(config());
    expect(now).toEqual(JSON.parse(original));
    expect(await docker("ps", "-aq")).toBe("");
    expect(await docker("network", "ls", "-q", "-f", "name=baas-net")).toBe("");
    expect(existsSync(keyPath())).toBe(true);
    expect(journal()).toBeUndefined();
  });

  it("and OpenClaw finds a note written afterwards, with a gateway and without", async () => {
    // Written before the indexing. `openclaw memory search` finds a new note only at the second search, because the first starts the indexing.
    const note = writeNote("2026-11-21.md", "The zanzibar harbour opens at nine.");
    const index = await host.openclaw(["memory", "index"]);
    expect([index.code, index.stderr]).toEqual([0, expect.not.stringContaining("failed")]);
    expect((await host.openclaw(["memory", "search", "zanzibar harbour", "--json"])).stdout).toContain(note);
    await host.startGateway();
    await expectNewNoteFound("2026-11-22.md", "The tortoise sleeps until April.", "tortoise April");
  });

  // verifies P-key-never-shown
  it("exposes no secret in any process's arguments, log or world-readable file", async () => {
    expect(secrets.seen()).toEqual([]);
    expect(secrets.samples()).toBeGreaterThan(100);
    expect(worldReadableWith([SECRET, readFileSync(keyPath(), "utf8").trim()])).toEqual([]);
  });
});

/** Uses OpenClaw's own search through the gateway, which indexes a new note by itself. */
async function expectNewNoteFound(name: string, text: string, query: string): Promise<void> {
  const note = writeNote(name, text);
  const search = async () => (await host.invokeTool("memory_search", { query, corpus: "memory" })).text;
  await expect.poll(search).toContain(note);
}

function writeNote(name: string, text: string): string {
  mkdirSync(join(host.home.workspace, "memory"), { recursive: true });
  writeFileSync(join(host.home.workspace, "memory", name), `# Day\n\n${text}\n`);
  return text;
}

const config = () => readFileSync(host.home.configPath, "utf8");
const keyPath = () => join(host.home.stateDir, "helmdeck-memory.key");
const stateFolder = () => join(host.home.root, "home", ".local", "state", "helmdeck-memory", "install");

function journal(): string | undefined {
  const file = join(stateFolder(), "journal.json");
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Every file in the home, except OpenClaw's own databases, caches and logs, which every run of its command line changes. */
function tree(): readonly string[] {
  const own = /\.openclaw\/(state|cache|tmp|agents|logs|media)\/|\.bak|last-good|journal-fingerprint/;
  return globSync(join(host.home.root, "home", "**"), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !own.test(file))
    .map((file) => `${file} ${createHash("sha256").update(readFileSync(file)).digest("hex")}`)
    .sort();
}

async function dockerState(): Promise<readonly string[]> {
  return [
    await docker("ps", "-a", "--no-trunc", "--format", "{{.ID}} {{.Names}}"),
    await docker("network", "ls", "--no-trunc", "--format", "{{.ID}} {{.Name}}"),
    await docker("volume", "ls", "-q"),
  ];
}

/** The embedder that the gateway reports for facts. */
async function factsEmbedder(): Promise<unknown> {
  const status = (await host.rpc("helmdeck.status", {})) as { embeddings?: unknown };
  return status.embeddings;
}

async function sidecarUrl(): Promise<string> {
  return `http://${await docker("port", "helmdeck-embeddings", "11434/tcp")}`;
}

async function sidecarRequests(): Promise<readonly { method: string; path: string; body: unknown }[]> {
  const response = await fetch(`${await sidecarUrl()}/stand-in/requests`);
  return (await response.json()) as { method: string; path: string; body: unknown }[];
}

async function setFault(fault: unknown): Promise<void> {
  await fetch(`${await sidecarUrl()}/stand-in/fault`, { method: "PUT", body: JSON.stringify(fault) });
}

function worldReadableWith(secrets: readonly string[]): readonly string[] {
  return globSync(join(host.home.root, "**"), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => (statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o044)
    .filter((file) => secrets.some((secret) => readFileSync(file).includes(secret)));
}
