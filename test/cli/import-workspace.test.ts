/** Import of a workspace whose agent planted links: nothing from outside comes in, and every skipped file is named. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { openWorkspace } from "../../commands/workspace.ts";
import { CommandHome } from "./command.ts";
import { runPiped } from "./terminal.ts";

const OUTSIDE = "- Plan: from outside\n";

const home = CommandHome.forEachTest();
beforeEach(() => {
  for (const folder of ["ws/memory", "elsewhere"]) mkdirSync(at(folder), { recursive: true });
  writeFileSync(at("ws/MEMORY.md"), "- Tool: Konflux\n");
  writeFileSync(at("ws/memory/2026-11-18.md"), "- Day: Monday\n");
  writeFileSync(at("elsewhere/2026-11-19.md"), OUTSIDE);
});

const at = (name: string) => join(home.folder, name);
const piped = (args: readonly string[]) => runPiped(args, { homeFolder: home.folder });

async function imported(folder = "ws") {
  const { code, stdout } = await piped(["import", "--from", "openclaw", at(folder), "--yes", "--json"]);
  const { facts } = JSON.parse((await piped(["list", "--json"])).stdout);
  const values: string[] = facts.map(({ value }: { readonly value: string }) => value);
  return { code, values: values.sort(), leftOut: Object.keys(JSON.parse(stdout).left_out ?? {}) };
}

// verifies P-import-inside
describe("a workspace is imported without", () => {
  test("a linked file, wherever it points to", async () => {
    symlinkSync(at("elsewhere/2026-11-19.md"), at("ws/memory/2026-11-19.md"));
    symlinkSync("../MEMORY.md", at("ws/memory/2026-11-20.md"));
    symlinkSync("nowhere", at("ws/USER.md"));
    expect(await imported()).toEqual({
      code: 0,
      values: ["Day: Monday", "Tool: Konflux"],
      leftOut: [
        "USER.md (a symbolic link)",
        "memory/2026-11-19.md (a symbolic link)",
        "memory/2026-11-20.md (a symbolic link)",
      ],
    });
  });

  test("a linked memory folder, whose files are not even named", async () => {
    rmSync(at("ws/memory"), { recursive: true });
    symlinkSync(at("elsewhere"), at("ws/memory"));
    expect(await imported()).toEqual({
      code: 0,
      values: ["Tool: Konflux"],
      leftOut: ["memory (a symbolic link)"],
    });
  });

  test("folders and pipes that are named like notes", async () => {
    mkdirSync(at("ws/memory/2026-11-19.md"));
    execFileSync("mkfifo", [at("ws/USER.md")]);
    expect(await imported()).toEqual({
      code: 0,
      values: ["Day: Monday", "Tool: Konflux"],
      leftOut: ["USER.md (not a regular file)", "memory/2026-11-19.md (not a regular file)"],
    });
  });

  test.each([
    ["a file", "memory/2026-11-18.md", "elsewhere/2026-11-19.md"],
    ["the memory folder", "memory", "elsewhere"],
  ])("%s that a link replaces after it was checked", async (_what, name, target) => {
    renameSync(at("elsewhere/2026-11-19.md"), at("elsewhere/2026-11-18.md"));
    const { files } = await openWorkspace(at("ws"));
    renameSync(at(`ws/${name}`), at("moved"));
    symlinkSync(at(target.replace("19", "18")), at(`ws/${name}`));
    const read = async () => {
      for (const { open } of files) for await (const part of open()) expect(`${part}`).not.toBe(OUTSIDE);
    };
    await expect(read()).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/2026-11-18\.md is .* Import that file by its own path/),
    });
  });

  test("the name of a skipped file acting on the terminal", async () => {
    symlinkSync("x", at("ws/memory/\u001b[2J.md"));
    const { stdout } = await piped(["import", "--from", "openclaw", at("ws"), "--dry-run"]);
    expect(stdout).toContain("(a symbolic link)");
    expect(stdout).not.toContain("\u001b[2J");
  });
});

test("a workspace that is itself a link is imported", async () => {
  symlinkSync(at("ws"), at("linked"));
  expect(await imported("linked")).toMatchObject({ values: ["Day: Monday", "Tool: Konflux"], leftOut: [] });
});

test("a file that the operator names is imported, also through a link", async () => {
  symlinkSync(at("elsewhere/2026-11-19.md"), at("ws/memory/2026-11-19.md"));
  expect((await piped(["import", "--from", "openclaw", at("ws/memory/2026-11-19.md"), "--yes"])).code).toBe(
    0,
  );
  expect(readFileSync(at("elsewhere/2026-11-19.md"), "utf8")).toBe(OUTSIDE);
});
