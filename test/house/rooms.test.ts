/** The rooms and who may import whom: the house as it stands passes, and each planted back edge is seen to fail. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const rooms = ["engine", "recall", "sidecar", "app", "server", "plugin", "seam", "cli", "install"];
const configs = [".dependency-cruiser.cjs", "tsconfig.json", "package.json", "scripts/seam-consumers.json"];

/** Each plants one import that a floor must not have, and names the rule that must catch it. */
const backEdges = [
  {
    file: "engine/planted.ts",
    source: 'import "../recall/index.ts";',
    rule: "engine-imports-only-its-own-floor",
  },
  {
    file: "engine/memory/planted.ts",
    source: 'export * from "../../app/index.ts";',
    rule: "engine-imports-only",
  },
  { file: "recall/planted.ts", source: 'await import("../app/index.ts");', rule: "recall-imports-only" },
  { file: "recall/planted.ts", source: 'import "../engine/errors.ts";', rule: "recall-imports-only" },
  { file: "sidecar/planted.ts", source: 'import "../recall/index.ts";', rule: "sidecar-imports-only" },
  { file: "sidecar/planted.ts", source: 'import "../engine/index.ts";', rule: "sidecar-imports-only" },
  { file: "app/planted.ts", source: 'import "../sidecar/contract.ts";', rule: "app-imports-only" },
  { file: "app/planted.ts", source: 'import type {} from "../plugin/index.ts";', rule: "app-imports-only" },
  { file: "plugin/planted.ts", source: 'import "../engine/index.ts";', rule: "plugin-imports-only" },
  { file: "cli/planted.ts", source: 'import "../plugin/index.ts";', rule: "cli-imports-only" },
  { file: "install/planted.ts", source: 'import "../cli/index.ts";', rule: "install-imports-only" },
  { file: "install/planted.ts", source: 'import "../engine/index.ts";', rule: "install-imports-only" },
  { file: "app/planted.ts", source: 'import "../install/index.ts";', rule: "app-imports-only" },
  { file: "server/planted.ts", source: 'import "../cli/index.ts";', rule: "server-imports-only" },
  { file: "server/planted.ts", source: 'import "../engine/index.ts";', rule: "server-imports-only" },
  { file: "app/planted.ts", source: 'import "../server/index.ts";', rule: "app-imports-only" },
  { file: "seam/planted.ts", source: 'import "../app/index.ts";', rule: "seam-imports-only" },
  { file: "seam/planted.ts", source: 'import "../engine/index.ts";', rule: "seam-imports-only" },
  { file: "plugin/planted.ts", source: 'import "../seam/index.ts";', rule: "plugin-imports-only" },
  {
    file: "engine/planted.ts",
    source: 'import "openclaw/plugin-sdk/routing";',
    rule: "engine-knows-no-surface",
  },
  { file: "app/planted.ts", source: 'import "openclaw/plugin-sdk/routing";', rule: "only-the-plugin-knows" },
  { file: "engine/planted.ts", source: 'import "vitest";', rule: "no-dev-dependency-in-the-product" },
  { file: "cli/planted.ts", source: 'import "./not-there.ts";', rule: "no-unresolved" },
];

let copy: string;

beforeAll(async () => {
  copy = await realpath(await mkdtemp(join(tmpdir(), "helmdeck-rooms-")));
  for (const name of [...rooms, ...configs])
    await cp(join(root, name), join(copy, name), { recursive: true });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
});

afterAll(() => rm(copy, { recursive: true, force: true }));

describe("the rooms of the house", () => {
  it("import only what docs/architecture.md allows", async () => {
    const { status, output } = await cruise();
    expect(output).toContain("no dependency violations found");
    expect(status).toBe(0);
  });

  it.each(backEdges)("refuses $source in $file", async ({ file, source, rule }) => {
    await mkdir(dirname(join(copy, file)), { recursive: true });
    await writeFile(join(copy, file), `${source}\n`);
    const { status, output } = await cruise();
    await rm(join(copy, file));
    expect(output).toContain(rule);
    expect(output).toContain(file);
    expect(status).not.toBe(0);
  });
});

function cruise(): Promise<{ status: number; output: string }> {
  const depcruise = join(root, "node_modules", ".bin", "depcruise");
  return new Promise((resolve) => {
    execFile(process.execPath, [depcruise, ...rooms], { cwd: copy }, (error, stdout, stderr) => {
      const status = typeof error?.code === "number" ? error.code : 0;
      resolve({ status, output: stdout + stderr });
    });
  });
}
