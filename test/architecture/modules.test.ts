/** The allowed imports between modules: the code passes, and each forbidden import that the test adds is reported. */
import { execFile } from "node:child_process";
import { cp, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const modules = [
  "engine",
  "recall",
  "sidecar",
  "model",
  "app",
  "packs",
  "seam",
  "pages",
  "server",
  "commands",
  "plugin",
  "cli",
  "install",
  "scripts",
];
const configs = [".dependency-cruiser.cjs", "tsconfig.json", "package.json", "bench/slices.ts"];

/** Each adds one import that its module must not have, and names the rule that must report it. */
const backEdges = [
  {
    file: "engine/planted.ts",
    source: 'import "../recall/recall.ts";',
    rule: "engine-imports-only-what-it-may",
  },
  {
    file: "engine/store/planted.ts",
    source: 'export * from "../../app/memory.ts";',
    rule: "engine-imports-only",
  },
  {
    file: "recall/planted.ts",
    source: 'await import("../app/open-memory.ts");',
    rule: "recall-imports-only",
  },
  { file: "sidecar/planted.ts", source: 'import "../recall/recall.ts";', rule: "sidecar-imports-only" },
  {
    file: "sidecar/planted.ts",
    source: 'import "../engine/store/memory-store.ts";',
    rule: "sidecar-imports-only",
  },
  { file: "model/planted.ts", source: 'import "../sidecar/ollama.ts";', rule: "model-imports-only" },
  { file: "commands/planted.ts", source: 'import "../model/run-model.ts";', rule: "commands-imports-only" },
  { file: "app/planted.ts", source: 'import type {} from "../plugin/index.ts";', rule: "app-imports-only" },
  { file: "engine/planted.ts", source: 'import "../packs/server-context.ts";', rule: "engine-imports-only" },
  { file: "app/planted.ts", source: 'import "../packs/server-context.ts";', rule: "app-imports-only" },
  { file: "packs/planted.ts", source: 'import "../server/create-server.ts";', rule: "packs-imports-only" },
  {
    file: "packs/planted.ts",
    source: 'import "../engine/store/sqlite/open-sqlite.ts";',
    rule: "packs-imports-only",
  },
  { file: "plugin/planted.ts", source: 'import "../packs/server-context.ts";', rule: "plugin-imports-only" },
  { file: "plugin/planted.ts", source: 'import "../engine/store/key-ring.ts";', rule: "plugin-imports-only" },
  { file: "cli/planted.ts", source: 'import "../plugin/index.ts";', rule: "cli-imports-only" },
  { file: "commands/planted.ts", source: 'import "../cli/index.ts";', rule: "commands-imports-only" },
  { file: "install/planted.ts", source: 'import "../cli/index.ts";', rule: "install-imports-only" },
  { file: "install/planted.ts", source: 'import "../engine/reader.ts";', rule: "install-imports-only" },
  { file: "app/planted.ts", source: 'import "../install/installer.ts";', rule: "app-imports-only" },
  { file: "server/planted.ts", source: 'import "../cli/index.ts";', rule: "server-imports-only" },
  { file: "server/planted.ts", source: 'import "../engine/store/sealing.ts";', rule: "server-imports-only" },
  { file: "app/planted.ts", source: 'import "../server/create-server.ts";', rule: "app-imports-only" },
  { file: "seam/planted.ts", source: 'import "../app/memory.ts";', rule: "seam-imports-only" },
  { file: "pages/planted.ts", source: 'import "../recall/recall.ts";', rule: "pages-imports-only" },
  { file: "pages/planted.ts", source: 'import "../server/create-server.ts";', rule: "pages-imports-only" },
  { file: "app/planted.ts", source: 'import "../pages/pages.ts";', rule: "app-imports-only" },
  { file: "seam/planted.ts", source: 'import "../engine/errors.ts";', rule: "seam-imports-only" },
  { file: "plugin/planted.ts", source: 'import "../seam/index.ts";', rule: "plugin-imports-only" },
  {
    file: "engine/planted.ts",
    source: 'import "openclaw/plugin-sdk/routing";',
    rule: "engine-knows-no-surface",
  },
  { file: "app/planted.ts", source: 'import "openclaw/plugin-sdk/routing";', rule: "only-the-plugin-knows" },
  { file: "engine/planted.ts", source: 'import "vitest";', rule: "no-dev-dependency-in-the-product" },
  { file: "scripts/planted.ts", source: 'import "../bench/slices.ts";', rule: "scripts-import-no-benchmark" },
  { file: "cli/planted.ts", source: 'import "./not-there.ts";', rule: "no-unresolved" },
];

/** The part of dependency-cruiser's JSON output that the test reads. */
interface Cruised {
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: object }[];
  };
}

let copy: string;
let cruised: Cruised;

/** Copies the modules, adds each forbidden import in its own file, and checks all of them in one run. */
beforeAll(async () => {
  copy = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-modules-")));
  for (const name of [...modules, ...configs])
    await cp(join(root, name), join(copy, name), { recursive: true });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  for (const [index, edge] of backEdges.entries())
    await writeFile(join(copy, placeOf(edge, index)), `${edge.source}\n`);
  cruised = await cruise();
});

afterAll(() => rm(copy, { recursive: true, force: true }));

describe("the modules", () => {
  it("import only what docs/architecture.md allows", () => {
    const planted = backEdges.map(placeOf);
    expect(cruised.summary.violations.filter(({ from }) => !planted.includes(from))).toEqual([]);
  });

  it.each(backEdges.map((edge, index) => ({ ...edge, place: placeOf(edge, index) })))(
    "refuses $source in $file",
    ({ place, rule }) => {
      const refused = cruised.summary.violations.filter(({ from }) => from === place);
      expect(refused).toContainEqual(
        expect.objectContaining({ rule: { name: expect.stringContaining(rule), severity: "error" } }),
      );
    },
  );
});

function placeOf({ file }: { readonly file: string }, index: number): string {
  return file.replace(/\.ts$/, `-${index}.ts`);
}

/**
 * Runs the check like `npm run check:modules`, which exits with 1 for a broken rule. With JSON output the exit code is always 0.
 */
async function cruise(): Promise<Cruised> {
  const depcruise = join(root, "node_modules", ".bin", "depcruise");
  const args = [depcruise, ...modules, "--output-type", "json"];
  const options = { cwd: copy, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return JSON.parse(stdout);
}
