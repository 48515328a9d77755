/** The seam's import check: this repository passes, every forbidden import is reported with its line, and similar text is not. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkSeam } from "../../scripts/check-seam/check-seam.ts";

const root = join(import.meta.dirname, "..", "..");
let project: string;

/** A small project with a seam, and aliases that resolve to it. */
beforeEach(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-gate-")));
  await plant("seam/index.ts", "export const seam = 1;");
  await plant("seam/part.ts", "export const part = 1;");
  await plant("engine/index.ts", "export const engine = 1;");
  await plant(
    "package.json",
    JSON.stringify({ name: "helmdeck-memory", type: "module", imports: { "#here": "./seam/index.ts" } }),
  );
  await plant(
    "tsconfig.json",
    JSON.stringify({
      compilerOptions: {
        module: "nodenext",
        paths: { "@here/*": ["./seam/*"] },
        allowImportingTsExtensions: true,
      },
    }),
  );
  await mkdir(join(project, "scripts"));
  await cp(join(root, "scripts", "seam-consumers.json"), join(project, "scripts", "seam-consumers.json"));
});
afterEach(() => rm(project, { recursive: true, force: true }));

async function plant(file: string, source: string): Promise<void> {
  await mkdir(dirname(join(project, file)), { recursive: true });
  await writeFile(join(project, file), source);
}

const IMPORTS = [
  'import { seam } from "../seam/index.ts";',
  "import { seam } from '../seam/index.ts';",
  'import "../seam/index.ts";',
  'import type { Seam } from "../seam/contract.ts";',
  'import { type Seam } from "../seam/index.js";',
  'import seam = require("../seam/index.ts");',
  'export * from "../seam/index.ts";',
  'export { seam } from "../seam/part.ts";',
  'const seam = await import("../seam/index.ts");',
  "const seam = await import(`../seam/index.ts`);",
  'type Seam = import("../seam/index.ts").Seam;',
  'const seam = require("../seam");',
  'const where = require.resolve("../seam/index.ts");',
  'const where = import.meta.resolve("../seam/index.ts");',
  'const where = new URL("../seam/index.ts", import.meta.url);',
  'const door = "../seam/index.ts"; await import(door);',
  'await import(root + "/seam/index.ts");',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program
  "await import(`${root}/seam/index.ts`);",
  'await import(join(root, "seam", "index.ts"));',
  'import "#here";',
  'export * from "@here/part.ts";',
  'import "helmdeck-memory/seam/index.ts";',
  'import "../seam/index.ts";',
  'import "../se%61m/index.ts";',
  'import "../Seam/index.ts";',
  'import "../seam/index.ts?fresh=1";',
  'import "\\u002e\\u002e/seam/index.ts";',
  '/// <reference path="../seam/index.ts" />',
  'vi.mock("../seam/index.ts");',
];

describe("an import of the seam", () => {
  test.each(IMPORTS)("is seen: %s", async (source) => {
    await plant("engine/planted.ts", `// one line\n// another\n${source}\n`);
    const { hits } = checkSeam(project);
    expect(hits).toEqual([{ file: join("engine", "planted.ts"), line: 3, text: source }]);
  });

  test("by a file address is seen", async () => {
    await plant("engine/planted.ts", `import "file://${project}/seam/index.ts";`);
    expect(checkSeam(project).hits).toHaveLength(1);
  });

  test.each([
    "engine/deep/er/planted.mts",
    "app/planted.cts",
    "plugin/planted.js",
    "bench/planted.mjs",
    "scripts/planted.cjs",
    "install/planted.tsx",
    "planted.ts",
    ".hidden/planted.ts",
    "engine/test/planted.ts",
    "engine/cli/planted.ts",
    "recall/dist/planted.ts",
  ])("is seen in %s", async (file) => {
    const up = file.includes("/") ? "../".repeat(file.split("/").length - 1) : "./";
    await plant(file, `import "${up}seam/index.ts";`);
    expect(checkSeam(project).hits).toMatchObject([{ file: join(file), line: 1 }]);
  });

  test("through a link into the seam is seen at the link", async () => {
    await symlink("../seam/index.ts", join(project, "engine", "link.ts"));
    expect(checkSeam(project).hits).toMatchObject([{ file: join("engine", "link.ts") }]);
    await rm(join(project, "engine", "link.ts"));
    await symlink("../seam", join(project, "engine", "link"));
    await plant("engine/planted.ts", 'import "./link/index.ts";');
    expect(checkSeam(project).hits).toMatchObject([{ file: join("engine", "planted.ts"), line: 1 }]);
  });
});

describe("what looks like one", () => {
  test.each([
    'import "../seamless/index.ts";',
    'import "../seam-helper.ts";',
    'import "../seam_helper/index.ts";',
    'import "./seam.ts";',
    'import "./seam/index.ts";',
    'import "../my-seam/index.ts";',
    'import "../inseam/index.ts";',
    'import "seam";',
    'import "@scope/seam/index.ts";',
    'import "#seam";',
    "await import(seam);",
    'await import("../seamstress.ts");',
    '// import "../seam/index.ts";',
    '/* export * from "../seam/index.ts"; */',
    "const sentence = 'never write import \"../seam/index.ts\" here';",
    'const modules = ["engine", "seam"];',
    'const pattern = "{engine,seam,cli}/**/*.ts";',
    "const seam = { index: 1 }; seam.index;",
  ])("is none: %s", async (source) => {
    await plant("engine/planted.ts", source);
    expect(checkSeam(project).hits).toEqual([]);
  });

  test.each([
    "seam/other.ts",
    "test/engine/planted.test.ts",
    "cli/commands/planted.ts",
    "server/planted.ts",
    "node_modules/x/index.js",
    "dist/cli.mjs",
  ])("is allowed in %s", async (file) => {
    const up = "../".repeat(file.split("/").length - 1);
    await plant(file, `import "${up}seam/index.ts";`);
    expect(checkSeam(project).hits).toEqual([]);
  });
});

describe("npm run check:seam", () => {
  test("is a part of npm run check", async () => {
    const { default: manifest } = await import("../../package.json", { with: { type: "json" } });
    expect(manifest.scripts.check).toMatch(/ check:run$/);
    expect(manifest.scripts["check:run"]).toMatch(/run-checks\.ts .*\bseam\b/);
    expect(manifest.scripts["check:seam"]).toBe("node scripts/check-seam/check-seam.ts");
  });

  test("names file, line and text, and fails", async () => {
    await plant("engine/planted.ts", '\nexport * from "../seam/index.ts";');
    const { code, stderr } = await run(project);
    expect(code).toBe(1);
    expect(stderr).toContain(`${join("engine", "planted.ts")}:2: export * from "../seam/index.ts";`);
  });

  test("does not pass where there is nothing to look at", async () => {
    expect(await run(join(project, "not-there"))).toMatchObject({ code: 2 });
    await rm(join(project, "seam"), { recursive: true });
    expect(await run(project)).toMatchObject({ code: 2 });
  });
});

function run(folder: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const script = join(root, "scripts", "check-seam", "check-seam.ts");
  return new Promise((resolve) => {
    execFile(process.execPath, [script, "--root", folder], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}
