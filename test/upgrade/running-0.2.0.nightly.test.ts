/**
 * From the real 0.2.0, built from its commit, to this version and back: the command line, a gateway, a server on a file and one on
 * PostgreSQL, all running while the new version arrives.
 *
 * Needs the repository's history and the network, for npm. Three minutes on two idle cores.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MODEL_DIST, ROOT } from "../../scripts/build/build.ts";
import { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { packEngine } from "../../scripts/pack-engine.ts";
import { packModel } from "../../scripts/pack-model.ts";
import { run } from "../docker/rig.ts";
import { Engine, makeDatabase } from "../engines/engine.ts";
import { publishLocally } from "../install/local-registry.ts";
import { npmEnvironment } from "../install/npm-environment.ts";
import { type PostgresServer, startPostgres, whyWithoutPostgres } from "../postgres/server.ts";

const COMMIT = "8b1b1ce0";
const TIMEOUT_MS = 900_000;
const isShallow = spawnSync("git", ["cat-file", "-e", COMMIT], { cwd: ROOT }).status !== 0;
const FACTS = {
  deploy: "I always deploy via Konflux",
  tea: "I drink green tea",
  city: "My office is in Graz",
};
const CHANGED = "I deploy via Tekton now";

let folder: string;
/** The packages of the command line, by version. */
let packages: Readonly<Record<"former" | "current", string>>;
let registry: Awaited<ReturnType<typeof publishLocally>>;
let host: OpenClawHost;
let postgres: PostgresServer;
let env: Readonly<Record<string, string>>;
let npm: Readonly<Record<string, string>>;

const served = () => join(folder, "served");
const program = () => join(folder, "prefix/lib/node_modules/helmdeck-memory/dist/helmdeck-memory.mjs");

describe.skipIf(isShallow || whyWithoutPostgres() !== undefined)("an upgrade from 0.2.0", () => {
  let onFile: Engine;
  let onPostgres: Engine;
  let address: string;
  let backup: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(realpathSync(tmpdir()), "hd-upgrade-"));
    packages = { former: packFormer(), current: await packEngine(folder) };
    const model = await packModel(folder);
    registry = await publishLocally(
      JSON.parse(readFileSync(join(MODEL_DIST, "package.json"), "utf8")),
      model,
    );
    host = await OpenClawHost.make({ config: { memory: null } });
    postgres = await startPostgres();
    address = await makeDatabase(postgres);
    ({ env, npm } = npmEnvironment(host.home, folder, registry));
  }, TIMEOUT_MS);

  afterAll(async () => {
    await onFile?.kill();
    await onPostgres?.kill();
    await host?.stop();
    await postgres?.dispose();
    registry?.close();
    rmSync(folder, { recursive: true, force: true });
  }, TIMEOUT_MS);

  it(
    "begins with a memory that 0.2.0 made, in OpenClaw, behind a server, and on PostgreSQL",
    async () => {
      await installPackage("former");
      expect(await helmdeck("--version")).toBe("0.2.0\n");
      await helmdeck("install", "--yes", "--no-embeddings");
      await host.startGateway();
      for (const [key, value] of Object.entries(FACTS)) await helmdeck("store", key, value);
      await helmdeck("store", "deploy", CHANGED);
      expect(await found("what do I deploy via?")).toContain("Tekton");
      onFile = await Engine.start(undefined, { program: program(), home: served() });
      onPostgres = await Engine.start(address, { program: program() });
      for (const engine of [onFile, onPostgres])
        for (const [key, value] of Object.entries(FACTS))
          expect((await engine.store("ada", key, value)).status).toBe(200);
      backup = join(folder, "before.backup");
      await helmdeck("backup", backup);
    },
    TIMEOUT_MS,
  );

  let before: string;

  it(
    "replaces the command and the plugin while all of them run, and loses nothing",
    async () => {
      before = await exported();
      await installPackage("current");
      expect(await exported()).toBe(before);
      await helmdeck("install", "--yes");
      await host.stopGateway();
      await host.startGateway();
      expect(await found("what do I deploy via?")).toContain("Tekton");
      expect(await helmdeck("undo", "deploy")).toContain("deploy");
      expect(await found("what do I deploy via?")).toContain("Konflux");
      await helmdeck("doctor");
    },
    TIMEOUT_MS,
  );

  it.each([
    ["PostgreSQL", () => [onPostgres, Engine.start(address, { program: program() })] as const],
    ["a file", () => [onFile, Engine.start(undefined, { program: program(), home: served() })] as const],
  ])("starts a new server beside the old one on %s, and both answer", async (_store, servers) => {
    const [former, starting] = servers();
    await using current = await starting;
    expect((await current.store("ada", "car", "I drive a van")).status).toBe(200);
    for (const engine of [former, current]) {
      expect(JSON.stringify((await engine.search("ada", "which car do I drive?")).body)).toContain(
        "I drive a van",
      );
      for (const [key, value] of Object.entries(FACTS))
        expect((await engine.get("ada", key)).body).toMatchObject({ value });
    }
  });

  it(
    "goes back: 0.2.0 reads what the new version stored, or its backup",
    async () => {
      await helmdeck("store", "bike", "My bike is red");
      await helmdeck("pin", "tea");
      await installPackage("former");
      expect(await helmdeck("get", "bike")).toContain("My bike is red");
      expect(await helmdeck("get", "tea")).toContain("green tea");
      await host.stopGateway();
      await helmdeck("restore", backup);
      expect(await exported()).toBe(before);
    },
    TIMEOUT_MS,
  );
});

/** Builds it as its own commands do. */
function packFormer(): string {
  const source = join(folder, "0.2.0");
  mkdirSync(source);
  const archive = spawnSync("git", ["archive", COMMIT], { cwd: ROOT, maxBuffer: 2 ** 28 });
  spawnSync("tar", ["-x", "-C", source], { input: archive.stdout });
  const pack = ["scripts/with-deps.mjs", "--exec", "node", "scripts/pack-engine.ts", folder];
  const packed = spawnSync(process.execPath, pack, { cwd: source, encoding: "utf8" });
  if (packed.status !== 0) throw new Error(`0.2.0 does not build: ${packed.stdout}${packed.stderr}`);
  return packed.stdout.trim().split("\n").at(-1) ?? "";
}

async function installPackage(version: keyof typeof packages): Promise<void> {
  const args = ["install", "-g", "--prefix", join(folder, "prefix"), "--ignore-scripts", packages[version]];
  const { code, stderr } = await run("npm", args, npm);
  expect([code, stderr], basename(packages[version])).toEqual([0, expect.not.stringMatching(/^npm error/m)]);
}

/** Runs the installed command in the home of the gateway. */
async function helmdeck(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run("helmdeck-memory", args, env);
  expect([code, stderr], args.join(" ")).toEqual([0, expect.any(String)]);
  return stdout;
}

async function exported(): Promise<string> {
  const lines = (await helmdeck("export")).trim().split("\n");
  return lines.sort().join("\n");
}

async function found(query: string): Promise<string> {
  return (await host.invokeTool("memory_search", { query, corpus: "all" })).text;
}
