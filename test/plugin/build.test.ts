import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startWorkerMemory } from "../../app/worker/worker-client.ts";
import { checkModel, MODEL_FILES } from "../../model/artefact.ts";
import {
  buildPlugin,
  frontFor,
  ROOT,
  requireNoDependencies,
  requireNoServer,
  requireQuickStart,
} from "../../scripts/build/build.ts";
import { buildModelPackage } from "../../scripts/build/model-package.ts";

const folder = mkdtempSync(join(tmpdir(), "helmdeck-build-"));
const plugin = join(folder, "plugin");
const textOf = (file: string) => readFileSync(join(plugin, file), "utf8");

/** All code of the package. */
const everyText = () =>
  globSync("dist/**/*.js", { cwd: plugin })
    .map((file) => textOf(file))
    .join("\n");

beforeAll(() => buildPlugin(plugin, "test"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// verifies P-supply-bundled
describe("the plugin's package", () => {
  test("has these files and the chunks that they share, and no others", () => {
    const files = readdirSync(plugin, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && !entry.parentPath.endsWith("/dist/chunks"),
    );
    expect(files.map((entry) => entry.name).sort()).toEqual(
      [
        "LICENSE",
        "README.md",
        "THIRD_PARTY_NOTICES.md",
        "commands.js",
        "engine.js",
        "helmdeck-worker.js",
        "helmdeck.js",
        "here.js",
        "index.js",
        "model-process.js",
        "notes-thread.js",
        "openclaw.plugin.json",
        "package.json",
        "pages.js",
        "on-demand.js",
        "worker.js",
      ].sort(),
    );
  });

  test("the main-thread file is small and imports nothing but Node and the host", () => {
    expect(statSync(join(plugin, "dist/index.js")).size).toBeLessThan(85_000);
    const imported = [...textOf("dist/index.js").matchAll(/^import .*?from "(.+?)";|import\("(.+?)"\)/gm)];
    for (const [, fixed, lazy] of imported)
      expect(fixed ?? lazy).toMatch(
        /^(node:|openclaw\/plugin-sdk\/|\.\/(commands|engine|helmdeck|here|pages|on-demand)\.js$)/,
      );
  });

  test("contains no store, index or validation on the main thread, and no native SQLite", () => {
    for (const file of ["dist/index.js", "dist/here.js", "dist/on-demand.js", "dist/pages.js"]) {
      expect(textOf(file)).not.toMatch(/node_modules\/zod|node:sqlite|@orama|\.\/chunks\//);
    }
    expect(everyText()).not.toMatch(/from "better-sqlite3"|require\("better-sqlite3"\)/);
    expect(everyText()).toContain("node:sqlite");
  });

  test("contains the licences of the bundled packages", () => {
    const bundled = [...everyText().matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)];
    const notices = textOf("THIRD_PARTY_NOTICES.md");
    expect(bundled.length).toBeGreaterThan(0);
    for (const [, name] of bundled) expect(notices).toContain(`## ${name} `);
  });

  test("contains no path of the machine that built it", () => {
    const root = new URL("../../", import.meta.url).pathname;
    for (const text of [everyText(), textOf("package.json"), textOf("THIRD_PARTY_NOTICES.md")]) {
      expect(text).not.toContain(root);
    }
  });

  test("the built worker stores a fact and finds it again", async () => {
    const memory = startWorkerMemory({
      workerUrl: pathToFileURL(join(plugin, "dist/worker.js")),
      databasePath: join(folder, "state/memory.sqlite"),
      keyPath: join(folder, "memory.key"),
      env: {},
    });
    try {
      await memory.storeFact("main", { key: "deploy", value: "always through Konflux" });
      const { results } = await memory.search("main", { query: "Konflux" });
      expect(results).toMatchObject([{ path: "helmdeck/user_facts/deploy.md" }]);
    } finally {
      await memory.close();
    }
  });
});

// verifies P-supply-bundled
test.each(["better-sqlite3", "zod", "left-pad"])(
  "the build fails if the plugin needs %s at run time",
  async (name) => {
    const { metafile } = await build({
      stdin: { contents: `import ${JSON.stringify(name)};` },
      bundle: true,
      format: "esm",
      platform: "node",
      metafile: true,
      write: false,
      external: [name],
    });
    expect(() => requireNoDependencies(metafile)).toThrow(name);
  },
);

test.each(["packs", "server", "cli", "install", "seam", "engine/store/postgres", "node_modules/pg"])(
  "the build fails if the plugin contains anything of %s/",
  async (module) => {
    const { metafile } = await build({
      stdin: { contents: "console.log(1);", resolveDir: folder },
      metafile: true,
      write: false,
      outfile: join(folder, "unused.js"),
    });
    expect(() => requireNoServer(metafile)).not.toThrow();
    const [output] = Object.values(metafile.outputs);
    Object.assign(output?.inputs ?? {}, { [`${module}/index.ts`]: { bytesInOutput: 1 } });
    expect(() => requireNoServer(metafile)).toThrow(`${module}/index.ts`);
  },
);

test("the build fails if a command loads the store before it has parsed its arguments", async () => {
  const start = (source: string) =>
    build({
      stdin: { contents: source, resolveDir: process.cwd(), loader: "ts" },
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      metafile: true,
      write: false,
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      external: ["better-sqlite3"],
      entryNames: "cli",
    });
  const lazily = await start('await import("./app/open-memory.ts");');
  expect(() => requireQuickStart(lazily.metafile)).not.toThrow();
  const atOnce = await start('export { openMemory } from "./app/open-memory.ts";');
  expect(() => requireQuickStart(atOnce.metafile)).toThrow("loads");
});

describe("the command's launcher", () => {
  const front = join(folder, "helmdeck-memory.mjs");
  beforeAll(() => {
    writeFileSync(front, frontFor(">=24.16.0"));
    writeFileSync(join(folder, "cli.mjs"), 'console.log("the program")');
  });

  /** Runs the entry file under a Node that reports this version. */
  function runOn(version: string) {
    const disguise = `Object.defineProperty(process.versions, "node", { value: ${JSON.stringify(version)} });`;
    const preload = join(folder, "disguise.cjs");
    writeFileSync(
      preload,
      `Object.defineProperty(process, "versions", { value: { ...process.versions } }); ${disguise}`,
    );
    return spawnSync(process.execPath, ["--require", preload, front], { encoding: "utf8" });
  }

  test.each(["24.16.0", "24.21.3", "26.1.0"])("Node %s runs the program", (version) => {
    expect(runOn(version)).toMatchObject({ status: 0, stdout: "the program\n", stderr: "" });
  });

  test.each(["24.15.9", "20.20.2", "8.17.0"])(
    "Node %s gets one line with the required version",
    (version) => {
      const { status, stdout, stderr } = runOn(version);
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr).toMatch(/^[^\n]*needs Node 24\.16 or later[^\n]*\n$/);
    },
  );
});

// verifies P-supply-bundled
test("the model's package has its files, licences and checksums, and no code, dependencies or scripts", async () => {
  const model = join(folder, "model");
  await buildModelPackage(ROOT, model, { version: "1.2.3" });
  const { files, dependencies, scripts, version } = JSON.parse(
    readFileSync(join(model, "package.json"), "utf8"),
  );
  expect([dependencies, scripts, version]).toEqual([undefined, undefined, "1.2.3"]);
  expect(readdirSync(model).sort()).toEqual([...files, "package.json"].sort());
  expect(files.filter((name: string) => /\.(?:[cm]?js|ts|node)$/.test(name))).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(["LICENSE", "onnxruntime-LICENSE.txt", "README.md"]));
  expect(await checkModel(model)).toEqual({ ok: true });
  const sums = readFileSync(join(model, "SHA256SUMS"), "utf8");
  for (const { name, sha256 } of MODEL_FILES) expect(sums).toContain(`${sha256}  ${name}\n`);
});
