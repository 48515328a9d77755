/** The plugin in a gateway: many hot reloads, changed settings, OpenClaw's backup, and the uninstallation, which keeps the data. */
import { execFileSync } from "node:child_process";
import { access, appendFile, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OpenClawHost, startOpenClaw } from "../../scripts/openclaw-host/openclaw-host.ts";
import { EMPTY_PLUGIN_ID, packEmptyPlugin } from "./empty-plugin.ts";
import { residentBytes, threadNames, timesOpen } from "./process-facts.ts";
import { NOTES } from "./setup.ts";
import { helmdeckMemory, patchConfig, pathsOf, resultOfSetUp } from "./shared.ts";

const KEY = "konflux/deployment-preference";
const PATH = `helmdeck/user_facts/${KEY}.md`;
const RELOADS = 20;
/** Reloads of one plugin in a row before the other's turn, so that the host's background work affects both. */
const IN_A_ROW = 4;
/** Resident memory is a rough measure, because garbage may not be collected yet. A worker or index that leaks at each reload doubles it. */
const NOISE = 1.5;

let host: OpenClawHost;
let folder: string;
let database: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-life-")));
  const { tarball, runtime } = await resultOfSetUp();
  const plugins = [tarball, await packEmptyPlugin(folder)];
  host = await startOpenClaw({ plugins, notes: NOTES, runtime });
  database = join(host.home.stateDir, "helmdeck-memory", "memory.sqlite");
  const fact = { key: KEY, value: "Konflux: staging first, never on a Friday." };
  expect((await host.invokeTool("helmdeck__memory_store", fact)).status).toBe(200);
  expect(await foundPaths()).toEqual([PATH]);
});

afterAll(async () => {
  await host?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("hot reloads", () => {
  it(`${RELOADS} times leave one open database, one worker, and no more memory growth than an empty plugin`, async () => {
    const grown: Record<string, number> = {};
    await reload(EMPTY_PLUGIN_ID, 1);
    await reload("helmdeck-memory", 1);
    for (let done = 0; done < RELOADS; done += IN_A_ROW) {
      for (const plugin of [EMPTY_PLUGIN_ID, "helmdeck-memory"]) {
        const before = await residentBytes(host.pid);
        await reload(plugin, IN_A_ROW);
        grown[plugin] = (grown[plugin] ?? 0) + (await residentBytes(host.pid)) - before;
        await expectOneOfEach();
      }
    }
    console.log(`after ${RELOADS} reloads: ${JSON.stringify(grown)} bytes more`);
    expect(grown["helmdeck-memory"]).toBeLessThan((grown[EMPTY_PLUGIN_ID] ?? 0) * NOISE);
  });

  it("apply a changed setting at once", async () => {
    await configure({ searchByDefault: false });
    expect(await foundPaths()).toEqual([]);
    expect(await foundPaths({ corpus: "all" })).toEqual([PATH]);
    await configure({ searchByDefault: true, allow: ["groups"] });
    expect(await foundPaths()).toEqual([PATH]);
    expect(await foundPaths({}, "agent:main:telegram:group:-1001")).toEqual([PATH]);
    expect(await foundPaths({}, "agent:main:hook:0b1c")).toEqual([]);
    await configure({ allow: [] });
    expect(await foundPaths({}, "agent:main:telegram:group:-1001")).toEqual([]);
    await expectOneOfEach();
  });
});

// verifies P-disk-key-apart
describe("OpenClaw's backup", () => {
  it("contains the complete database, but not its key", async () => {
    await appendFile(`${database}-reserve.tmp`, "x"); // made at the first sweep
    const { code, stdout } = await host.openclaw(["backup", "create", "--output", folder, "--json"]);
    expect(code).toBe(0);
    const archive = String(JSON.parse(stdout).archivePath);
    const names = execFileSync("tar", ["-tzf", archive], { encoding: "utf8" }).split("\n");
    const saved = names.filter((name) => name.includes("helmdeck-memory/memory.sqlite"));
    expect(saved).toHaveLength(1); // no -wal or -shm, which could be inconsistent, and no reserve
    expect(names.filter((name) => name.endsWith("helmdeck-memory.key"))).toEqual([]);
    execFileSync("tar", ["-xzf", archive, "-C", folder]);
    const copy = new DatabaseSync(join(folder, saved[0] ?? ""), { readOnly: true });
    expect(copy.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    copy.close();
    const restored = ["--db", join(folder, saved[0] ?? "")];
    const got = await helmdeckMemory(host, "get", KEY, ...restored);
    expect(got).toMatchObject({ code: 0, stderr: "" });
    expect(got.stdout).toContain("never on a Friday");
  });
});

describe("uninstalling", () => {
  it("closes the database, keeps its file, and does not affect OpenClaw's own search", async () => {
    const { code } = await host.openclaw(["plugins", "uninstall", "helmdeck-memory", "--force"]);
    expect(code).toBe(0);
    expect(await timesOpen(host.pid, database)).toBe(0);
    await expect(access(`${database}-wal`)).rejects.toThrow("ENOENT");
    const reply = await host.invokeTool("memory_search", { query: "Konflux deployment" });
    expect(pathsOf(reply, "helmdeck")).toEqual([]);
    expect(pathsOf(reply, "memory")).toContain("MEMORY.md");
    expect((await helmdeckMemory(host, "get", KEY)).stdout).toContain("never on a Friday");
  });

  it("and reinstalling and enabling in the running gateway makes all facts available again", async () => {
    await host.installPlugin((await resultOfSetUp()).tarball);
    // OpenClaw keeps the entry of an uninstalled plugin, disabled. A person enables it with `openclaw plugins enable`.
    await patchConfig(host, { plugins: { entries: { "helmdeck-memory": { enabled: true } } } });
    expect(await foundPaths()).toEqual([PATH]);
  });
});

async function reload(pluginId: string, times: number): Promise<void> {
  for (let done = 0; done < times; done += 1) {
    await host.rpc("plugins.reload", { plugins: [{ pluginId }] });
    expect(await foundPaths()).toEqual([PATH]);
  }
}

async function expectOneOfEach(): Promise<void> {
  await expect.poll(() => timesOpen(host.pid, database), { timeout: 10_000 }).toBe(1);
  const threads = await threadNames(host.pid);
  if (threads !== undefined) expect(threads.filter((name) => name === "helmdeck-memory")).toHaveLength(1);
}

async function foundPaths(args: { corpus?: string } = {}, sessionKey = "agent:main:main") {
  const query = "Konflux deployment preference";
  return pathsOf(await host.invokeTool("memory_search", { query, ...args }, { sessionKey }), "helmdeck");
}

function configure(config: Parameters<typeof patchConfig>[1]): Promise<void> {
  const replacePaths = ["plugins.entries.helmdeck-memory.config.allow"];
  return patchConfig(host, { plugins: { entries: { "helmdeck-memory": { config } } } }, replacePaths);
}
