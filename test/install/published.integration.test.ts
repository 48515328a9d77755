/**
 * The three packages as they will be published: npm, npx and OpenClaw install them from their tarballs, and a dry run of the publication
 * gives no warnings. npm fetches the dependencies, so this needs the network.
 *
 * Budget: two minutes on two idle cores, most of it OpenClaw's own commands.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MODEL_DIST, PLUGIN_DIST } from "../../scripts/build/build.ts";
import { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { packEngine, packModel, packPlugin } from "../../scripts/pack.ts";
import { run } from "../docker/rig.ts";
import { publishLocally } from "./local-registry.ts";
import { npmEnvironment } from "./npm-environment.ts";

const TIMEOUT_MS = 600_000;
let folder: string;
let engine: string;
let plugin: string;
let model: string;
/** A registry on loopback for our scope: the engine's package depends on the model's. */
let registry: Awaited<ReturnType<typeof publishLocally>>;
let host: OpenClawHost;
/** The path includes the command that npm installed. */
let env: Readonly<Record<string, string>>;
/** For npm itself: also includes this machine's settings for its registry. */
let npm: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), "hd-published-"));
  engine = await packEngine(folder);
  plugin = await packPlugin(folder);
  model = await packModel(folder);
  registry = await publishLocally(JSON.parse(readFileSync(join(MODEL_DIST, "package.json"), "utf8")), model);
  host = await OpenClawHost.make({ config: { memory: null } });
  const environment = npmEnvironment(host.home, folder, registry);
  ({ env, npm } = environment);
  const { prefix } = environment;
  const installed = await run("npm", ["install", "-g", "--prefix", prefix, "--ignore-scripts", engine], npm);
  expect([installed.code, installed.stderr]).toEqual([0, expect.not.stringMatching(/^npm error/m)]);
}, TIMEOUT_MS);

afterAll(async () => {
  await host?.stop();
  registry?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("npm publish --dry-run", () => {
  it.each([
    ["helmdeck-memory", () => engine],
    ["@helmdeck/helmdeck-memory", () => plugin],
    ["@helmdeck/helmdeck-memory-model", () => model],
  ])("corrects nothing in %s and warns only of the missing login", async (name, tarball) => {
    const published = await publishForShow(tarball());
    expect(published.code).toBe(0);
    expect(published.stdout).toContain(`+ ${name}@`);
    const warnings = published.stderr.split("\n").filter((line) => line.startsWith("npm warn"));
    expect(warnings.filter((line) => !line.includes("requires you to be logged in"))).toEqual([]);
    expect(published.stderr).toContain("public access");
  });

  const publishForShow = (what: string) =>
    run("npm", ["publish", what, "--dry-run", "--registry", "http://127.0.0.1:9"], env, folder);
});

describe("helmdeck-memory from its tarball", () => {
  it("has two dependencies: one that cannot be bundled because it has binaries, and the built-in model", () => {
    const modules = join(folder, "prefix", "lib", "node_modules", "helmdeck-memory", "node_modules");
    expect(readdirSync(modules).filter((name) => !name.startsWith("."))).toEqual([
      "@helmdeck",
      "better-sqlite3",
      "node-addon-api",
    ]);
    expect(readdirSync(join(modules, "@helmdeck"))).toEqual(["helmdeck-memory-model"]);
  });

  it(
    "runs its installer with npx, changes nothing in a dry run, and names the npx command in its help",
    async () => {
      const npx = (...args: readonly string[]) =>
        run("npx", ["--yes", "--package", engine, "helmdeck-memory", "install", ...args], npm, folder);
      const { code, stdout } = await npx("--dry-run", "--no-embeddings");
      expect([code, stdout]).toEqual([0, expect.stringContaining("install the plugin helmdeck-memory")]);
      expect(existsSync(join(host.home.stateDir, "helmdeck-memory.key"))).toBe(false);
      expect((await npx("--help")).stdout).toContain("npx helmdeck-memory install --uninstall");
    },
    TIMEOUT_MS,
  );

  it(
    "installs everything after npm i -g, also under umask 0, and its final message names commands that work",
    async () => {
      const install = "install --yes --embeddings builtin --audit-tools all";
      const { code, stdout, stderr } = await run("sh", ["-c", `umask 0; helmdeck-memory ${install}`], env);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toContain("✓ Done.");
      expect(stdout).toContain("To undo everything: helmdeck-memory install --uninstall");
      expect(stdout).toContain("Then run: helmdeck-memory key saved COPY. Until then doctor reminds you.");
      expect(stdout).not.toContain("in your path");
      const { entries } = JSON.parse(readFileSync(host.home.configPath, "utf8")).plugins;
      expect(entries["helmdeck-memory"]).toEqual({
        enabled: true,
        config: { auditTools: "all", embeddings: { provider: "builtin" }, lifetimeDays: 365 },
      });
      expect(existsSync(join(host.home.stateDir, "helmdeck-memory-model"))).toBe(true);
    },
    TIMEOUT_MS,
  );

  it(
    "uninstalls everything and lists what stays",
    async () => {
      const { code, stdout } = await run("helmdeck-memory", ["install", "--uninstall", "--yes"], env);
      expect(code).toBe(0);
      expect(existsSync(join(host.home.stateDir, "helmdeck-memory-model"))).toBe(false);
      expect(stdout).toMatch(/What is left, and how to delete it:\n {2}your memory: .*memory\.sqlite/);
      const { entries = {} } = JSON.parse(readFileSync(host.home.configPath, "utf8")).plugins ?? {};
      expect(entries).toEqual({});
    },
    TIMEOUT_MS,
  );
});

describe("the plugin in a registry", () => {
  it(
    "is installed by its name, and OpenClaw reports no problem with its name or manifest",
    async () => {
      const manifest = JSON.parse(readFileSync(join(PLUGIN_DIST, "package.json"), "utf8"));
      const registry = await publishLocally(manifest, plugin);
      const openclaw = (...args: readonly string[]) =>
        run("openclaw", args, { ...env, npm_config_registry: registry.url, npm_config_offline: "false" });
      const installed = await openclaw(
        ...["plugins", "install", `npm:${manifest.name}`, "--force", "--accept-capabilities"],
      );
      registry.close();
      expect([installed.code, installed.stdout]).toEqual([
        0,
        expect.stringContaining("Installed plugin: helmdeck-memory"),
      ]);
      expect(installed.stdout + installed.stderr).not.toContain("differs from npm package name");
      const { stdout } = await openclaw("plugins", "inspect", "helmdeck-memory", "--runtime", "--json");
      expect(JSON.parse(stdout.slice(stdout.indexOf("{")))).toMatchObject({
        plugin: { id: "helmdeck-memory", status: "loaded" },
        diagnostics: [],
      });
    },
    TIMEOUT_MS,
  );
});
