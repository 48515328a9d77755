/**
 * From the real 0.1.0 and 0.2.0, built from their commits, to this version and back, all running while the new version arrives: the
 * command line, a gateway, a server on a file, and for 0.2.0 one on PostgreSQL, which 0.1.0 does not know.
 *
 * Needs the repository's history and the network, for npm. Three minutes for each on two idle cores.
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MODEL_DIST, ROOT } from "../../scripts/build/build.ts";
import { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { packEngine, packModel } from "../../scripts/pack.ts";
import { run } from "../docker/rig.ts";
import { Engine, makeDatabase } from "../engines/engine.ts";
import { publishLocally } from "../install/local-registry.ts";
import { npmEnvironment } from "../install/npm-environment.ts";
import { type PostgresServer, startPostgres, whyWithoutPostgres } from "../postgres/server.ts";

interface Former {
  readonly version: string;
  readonly commit: string;
  /** Builds and packs its clone, as its own commands do. Both print the tarball's name as their last line. */
  readonly pack: (folder: string) => readonly (readonly [program: string, ...args: string[]])[];
  /** It reads and writes the database as this version leaves it, keeps histories and backups, and knows PostgreSQL. */
  readonly isLike: boolean;
}

const FORMER: readonly Former[] = [
  {
    version: "0.2.0",
    commit: "8b1b1ce0",
    pack: (to) => [
      [process.execPath, "scripts/with-deps.mjs", "--exec", "node", "scripts/pack-engine.ts", to],
    ],
    isLike: true,
  },
  {
    version: "0.1.0",
    commit: "2a1037ac",
    pack: (to) => [
      [process.execPath, "scripts/with-deps.mjs", "build"],
      ["npm", "pack", "--silent", "--pack-destination", to],
    ],
    isLike: false,
  },
];
const TIMEOUT_MS = 900_000;
const FACTS = {
  deploy: "I always deploy via Konflux",
  tea: "I drink green tea",
  city: "My office is in Graz",
};
const CHANGED = "I deploy via Tekton now";
const KEY_FILE = "helmdeck-memory.key";
/** The fields of an export that its import refuses. */
const UNKNOWN_TO_0_1 = { path: undefined, writer: undefined, pinned: undefined };

const isShallow = FORMER.some(
  ({ commit }) => spawnSync("git", ["cat-file", "-e", commit], { cwd: ROOT }).status !== 0,
);

describe.skipIf(isShallow || whyWithoutPostgres() !== undefined).each(FORMER)(
  "an upgrade from $version",
  ({ version, commit, pack, isLike }) => {
    let folder: string;
    /** The packages of the command line. */
    let packages: Readonly<Record<"former" | "current", string>>;
    let registry: Awaited<ReturnType<typeof publishLocally>>;
    let host: OpenClawHost;
    let postgres: PostgresServer | undefined;
    let env: Readonly<Record<string, string>>;
    let npm: Readonly<Record<string, string>>;
    let onFile: Engine;
    let onPostgres: Engine | undefined;
    let address: string;
    let backup: string;
    let before: readonly Line[];

    beforeAll(async () => {
      folder = mkdtempSync(join(realpathSync(tmpdir()), "hd-upgrade-"));
      packages = { former: packFormer(), current: await packEngine(folder) };
      const model = await packModel(folder);
      registry = await publishLocally(
        JSON.parse(readFileSync(join(MODEL_DIST, "package.json"), "utf8")),
        model,
      );
      host = await OpenClawHost.make({ config: { memory: null } });
      backup = join(folder, "before.backup");
      if (isLike) {
        postgres = await startPostgres();
        address = await makeDatabase(postgres);
      }
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
      "begins with a memory that it made, in OpenClaw and behind servers",
      async () => {
        await installPackage("former");
        expect(await helmdeck("--version")).toBe(`${version}\n`);
        await runInstaller("--yes", "--no-embeddings");
        await host.startGateway();
        for (const [key, value] of Object.entries(FACTS)) await helmdeck("store", key, value);
        if (isLike) await helmdeck("store", "deploy", CHANGED);
        expect(await found("what do I deploy via?")).toContain(isLike ? "Tekton" : "Konflux");
        onFile = await startServer();
        await fill(onFile);
        if (isLike) onPostgres = await Engine.start(address, { program: program() });
        if (onPostgres) await fill(onPostgres);
        before = await exported();
        if (isLike) await helmdeck("backup", backup);
        else await copyMemoryTo(backup);
      },
      TIMEOUT_MS,
    );

    it(
      "replaces the command and the plugin while all of them run, and loses nothing",
      async () => {
        await installPackage("current");
        expect(await exported()).toMatchObject(before);
        await helmdeck("install", "--yes");
        await host.stopGateway();
        await host.startGateway();
        if (!isLike) await helmdeck("store", "deploy", CHANGED);
        expect(await found("what do I deploy via?")).toContain("Tekton");
        expect(await helmdeck("undo", "deploy")).toContain("deploy");
        expect(await found("what do I deploy via?")).toContain("Konflux");
        await helmdeck("doctor");
      },
      TIMEOUT_MS,
    );

    it("has a new server on the former one's file, beside it or after it", async () => {
      await using current = await startServer();
      expect((await current.store("ada", "car", "I drive a van")).status).toBe(200);
      for (const engine of isLike ? [onFile, current] : [current]) await expectAllOf(engine);
      if (!isLike) {
        expect((await onFile.get("ada", "tea")).body).toMatchObject({ error: "entry_unreadable" });
        expect((await onFile.store("ada", "late", "From the former server")).status).toBe(500);
        expect((await current.get("ada", "late")).status).toBe(404);
      }
    });

    it.runIf(isLike)("starts a new server beside the old one on PostgreSQL, and both answer", async () => {
      await using current = await Engine.start(address, { program: program() });
      expect((await current.store("ada", "car", "I drive a van")).status).toBe(200);
      for (const engine of [onPostgres, current]) if (engine) await expectAllOf(engine);
    });

    it.runIf(isLike)(
      "goes back: it reads what the new version stored, or its backup",
      async () => {
        await helmdeck("store", "bike", "My bike is red");
        await helmdeck("pin", "tea");
        await installPackage("former");
        expect(await helmdeck("get", "bike")).toContain("My bike is red");
        expect(await helmdeck("get", "tea")).toContain("green tea");
        await host.stopGateway();
        await helmdeck("restore", backup);
        expect(await exported()).toEqual(before);
      },
      TIMEOUT_MS,
    );

    it.runIf(!isLike)(
      "goes back: it leaves the new database alone, and works with the copy of its own",
      async () => {
        await host.stopGateway();
        await helmdeck("store", "bike", "My bike is red");
        const later = (await exported()).map((line) => JSON.stringify({ ...line, ...UNKNOWN_TO_0_1 }));
        await helmdeck("install", "--uninstall", "--yes");
        await installPackage("former");
        expect(await refused("get", "tea")).toContain("store_newer");
        copyMemoryFrom(backup);
        expect(await exported()).toEqual(before);
        await runInstaller("--yes", "--no-embeddings");
        await host.startGateway();
        expect(await found("what do I deploy via?")).toContain("Konflux");
        writeFileSync(join(folder, "later.jsonl"), later.join("\n"));
        await helmdeck("import", join(folder, "later.jsonl"));
        expect(await helmdeck("get", "bike")).toContain("My bike is red");
      },
      TIMEOUT_MS,
    );

    const program = () => join(folder, "prefix/lib/node_modules/helmdeck-memory/dist/helmdeck-memory.mjs");

    /** A server of the installed version. All of them share a home. */
    function startServer(): Promise<Engine> {
      return Engine.start(undefined, { program: program(), home: join(folder, "served") });
    }

    async function fill(engine: Engine): Promise<void> {
      for (const [key, value] of Object.entries(FACTS))
        expect((await engine.store("ada", key, value)).status).toBe(200);
    }

    async function expectAllOf(engine: Engine): Promise<void> {
      const corpus = await engine.ask("ada", "GET", "/api/v1/memory/corpus?query=which+car+do+I+drive");
      expect(JSON.stringify(corpus.body)).toContain("I drive a van");
      for (const [key, value] of Object.entries(FACTS))
        expect((await engine.get("ada", key)).body).toMatchObject({ value });
    }

    function packFormer(): string {
      const source = join(folder, version);
      mkdirSync(source);
      const archive = spawnSync("git", ["archive", commit], { cwd: ROOT, maxBuffer: 2 ** 28 });
      spawnSync("tar", ["-x", "-C", source], { input: archive.stdout });
      let name = "";
      for (const [command, ...args] of pack(folder)) {
        const { status, stdout, stderr } = spawnSync(command, args, { cwd: source, encoding: "utf8" });
        if (status !== 0) throw new Error(`${version} does not build: ${stdout}${stderr}`);
        name = stdout.trim().split("\n").at(-1) ?? "";
      }
      return join(folder, basename(name));
    }

    async function installPackage(which: keyof typeof packages): Promise<void> {
      const prefix = join(folder, "prefix");
      const args = ["install", "-g", "--prefix", prefix, "--ignore-scripts", packages[which]];
      const { code, stderr } = await run("npm", args, npm);
      expect([code, stderr], basename(packages[which])).toEqual([
        0,
        expect.not.stringMatching(/^npm error/m),
      ]);
    }

    /** The installer of the installed package. 0.1.0 has no command for it. */
    async function runInstaller(...args: readonly string[]): Promise<void> {
      const { code, stdout, stderr } = await run(
        "sh",
        [join(program(), "../../install/install.sh"), ...args],
        env,
      );
      expect([code, stdout, stderr]).toEqual([0, expect.any(String), expect.any(String)]);
    }

    /** Runs the installed command in the home of the gateway. */
    async function helmdeck(...args: readonly string[]): Promise<string> {
      const { code, stdout, stderr } = await run("helmdeck-memory", args, env);
      expect([code, stderr], args.join(" ")).toEqual([0, expect.any(String)]);
      return stdout;
    }

    async function refused(...args: readonly string[]): Promise<string> {
      const { code, stderr } = await run("helmdeck-memory", args, env);
      expect(code, args.join(" ")).toBe(1);
      return stderr;
    }

    async function exported(): Promise<readonly Line[]> {
      const lines: Line[] = (await helmdeck("export"))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      return lines.sort((a, b) => (a.key < b.key ? -1 : 1));
    }

    async function found(query: string): Promise<string> {
      return (await host.invokeTool("memory_search", { query, corpus: "all" })).text;
    }

    /** What the guide says to copy, with the gateway stopped. */
    async function copyMemoryTo(copy: string): Promise<void> {
      await host.stopGateway();
      cpSync(memoryFolder(), copy, { recursive: true });
      copyFileSync(join(host.home.stateDir, KEY_FILE), join(copy, KEY_FILE));
      await host.startGateway();
    }

    function copyMemoryFrom(copy: string): void {
      rmSync(memoryFolder(), { recursive: true });
      cpSync(copy, memoryFolder(), { recursive: true });
      rmSync(join(memoryFolder(), KEY_FILE));
    }

    function memoryFolder(): string {
      return join(host.home.stateDir, "helmdeck-memory");
    }
  },
);

interface Line {
  readonly key: string;
}
