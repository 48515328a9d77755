/** Finding the project of a folder, also in a hostile repository. */
import { execFile } from "node:child_process";
import { access, chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { repositoryNameIn } from "../../seam/project.ts";
import { SeamHome } from "./fixtures.ts";

const run = promisify(execFile);

/** A home with a fact that is always loaded, so that the header shows the slug. */
async function homeWith(settings: string | undefined, origin?: string): Promise<SeamHome> {
  const home = await SeamHome.make();
  await home.store([{ key: "house", category: "always", value: "small functions" }]);
  await rm(join(home.repo, ".harness", "project.json"));
  if (settings !== undefined) await home.write(".harness/project.json", settings);
  if (origin !== undefined) {
    await run("git", ["init", "-q"], { cwd: home.repo });
    await run("git", ["config", "remote.origin.url", origin], { cwd: home.repo });
  }
  return home;
}

async function projectIn(home: SeamHome, cwd?: string): Promise<string | undefined> {
  const text = await home.seam().recallHere(cwd === undefined ? {} : { cwd });
  return /project: (.*)\n/.exec(text)?.[1];
}

describe("the project", () => {
  test.each([
    ['{"vault_project": "named", "github": {"repo": "acme/other"}}', "named"],
    ['{"vault_project": "  spaced  "}', "spaced"],
    ['{"vault_project": "  ", "github": {"repo": "acme/egret"}}', "egret"],
    ['{"vault_project": 7, "github": {"repo": "acme/egret/"}}', "egret"],
    ['{"github": {"repo": "egret"}}', "egret"],
    ['{"github": "acme/egret"}', "from-origin"],
    ["{}", "from-origin"],
    ["[]", "from-origin"],
    ["null", "from-origin"],
    ["not json", "from-origin"],
    ["\ufeff{}", "from-origin"],
    [undefined, "from-origin"],
  ])("for the settings %s is %s", async (settings, expected) => {
    expect(await projectIn(await homeWith(settings, "https://example.com/acme/from-origin.git"))).toBe(
      expected,
    );
  });

  test("is unknown without settings and repository", async () => {
    expect(await projectIn(await homeWith(undefined))).toBe("(unknown)");
  });

  test.each(["huge", "a pipe", "a folder", "a link to nothing"])(
    "ignores settings that are %s",
    async (kind) => {
      const home = await homeWith(undefined, "git@example.com:acme/from-origin");
      const path = join(home.repo, ".harness", "project.json");
      if (kind === "huge") await writeFile(path, `{"vault_project": "${"x".repeat(100_000)}"}`);
      else if (kind === "a pipe") await run("mkfifo", [path]);
      else if (kind === "a folder") await mkdir(path);
      else await symlink("nowhere", path);
      expect(await projectIn(home)).toBe("from-origin");
      expect(home.notes).toEqual([expect.stringContaining("was ignored")]);
    },
  );

  test("is the repository's project for a worktree and for a subfolder", async () => {
    const home = await homeWith(undefined, "https://example.com/acme/from-origin.git");
    const git = (...args: string[]) =>
      run("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: home.repo });
    await git("commit", "-q", "--allow-empty", "-m", "first");
    await git("worktree", "add", "-q", join(home.folder, "tree"));
    await mkdir(join(home.repo, "inside"));
    expect(await projectIn(home, join(home.folder, "tree"))).toBe("from-origin");
    expect(await projectIn(home, join(home.repo, "inside"))).toBe("from-origin");
  });

  test("is the folder's project, also in a git hook that names another repository", async () => {
    const home = await homeWith(undefined, "https://example.com/acme/from-origin.git");
    const other = await homeWith(undefined, "https://example.com/acme/other.git");
    const env = { ...home.place.env, GIT_DIR: join(other.repo, ".git"), GIT_CONFIG_COUNT: "0" };
    const text = await home.seam({ memory: { ...home.place, env } }).recallHere();
    expect(text).toContain("project: from-origin");
  });

  test("is unknown if git is not installed", async () => {
    const home = await homeWith(undefined, "https://example.com/acme/from-origin.git");
    const text = await home.seam({ memory: { ...home.place, env: { PATH: "/nowhere" } } }).recallHere();
    expect(text).toContain("project: (unknown)");
  });

  // verifies P-alone-repository
  test("is read with git without running any program that the repository defines", async () => {
    const home = await homeWith(undefined, "https://example.com/acme/from-origin.git");
    const trace = join(home.folder, "ran");
    const script = join(home.folder, "evil.sh");
    await writeFile(script, `#!/bin/sh\ntouch ${trace}\n`);
    await chmod(script, 0o755);
    const set = (name: string, value: string) => run("git", ["config", name, value], { cwd: home.repo });
    for (const name of "core.fsmonitor core.pager core.editor core.sshCommand pager.config".split(" "))
      await set(name, script);
    await set("alias.config", `!${script}`);
    await set("core.hooksPath", home.folder);
    const included = join(home.folder, "included");
    await writeFile(included, '[remote "origin"]\n\turl = https://example.com/acme/included.git\n');
    await set("include.path", included);
    expect(await projectIn(home)).toBe("from-origin");
    await expect(access(trace)).rejects.toThrow("ENOENT");
  });
});

describe("the project's name from a remote's address", () => {
  test.each([
    ["https://example.com/acme/heron.git", "heron"],
    ["https://example.com/acme/heron/", "heron"],
    ["https://me:secret@example.com/acme/heron.git", "heron"],
    ["git@example.com:acme/heron.git", "heron"],
    ["git@example.com:heron", "heron"],
    ["ssh://git@example.com:2222/acme/heron", "heron"],
    ["file:///srv/git/heron.git", "heron"],
    ["../heron.git/", "heron"],
    ["C:\\repos\\heron", "heron"],
    ["https://example.com/acme/heron.git?token=secret#x", "heron"],
    ["https://me:secret@example.com", undefined],
    ["https://me:secret@example.com/", undefined],
    ["secret@example.com", undefined],
    ["https://example.com/.git", undefined],
    ["", undefined],
    ["///", undefined],
  ])("%s is %s", (address, name) => {
    expect(repositoryNameIn(address)).toBe(name);
  });
});

describe("a configured state folder", () => {
  test("has a folder for each project's plans, while markers stay in the project", async () => {
    const home = await homeWith('{"vault_project": "../egret"}');
    const stateDir = join(home.folder, "state");
    await mkdir(join(stateDir, "projects", "..%2Fegret"), { recursive: true });
    const inside = join(stateDir, "projects", "..%2Fegret");
    const seam = home.seam({ stateDir });
    expect(await seam.statePath({}, "plan")).toBe(join(inside, "PLAN.md"));
    await home.write(".harness/active-plan", "foo");
    await home.write(".harness/PLAN-foo.md", "not where plans are kept");
    await expect(seam.statePath({}, "plan")).rejects.toMatchObject({ code: "active_plan_corrupt" });
    await writeFile(join(inside, "PLAN-foo.md"), "# Foo");
    expect(await seam.statePath({}, "progress")).toBe(join(inside, "progress-foo.md"));
  });

  test.each(["", "  ", "gone"])("that is %j is replaced by the project's own folder", async (name) => {
    const home = await homeWith('{"vault_project": "egret"}');
    const stateDir = name === "gone" ? join(home.folder, name) : name;
    expect(await home.seam({ stateDir }).statePath({}, "plan")).toBe(join(home.repo, ".harness", "PLAN.md"));
    expect(home.notes).toHaveLength(name === "gone" ? 1 : 0);
  });

  test("must be absolute", async () => {
    const home = await homeWith("{}");
    await expect(home.seam({ stateDir: "state" }).statePath({}, "plan")).rejects.toThrow("absolute");
  });
});
