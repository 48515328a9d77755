/** The `here` commands: a dev loop in two shells, as processes, and the output, errors and exit codes that existing callers rely on. */
import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { HELMDECK_HERE } from "../../cli/index.ts";
import { whyWithout } from "../run/programs.ts";
import { BUNDLED_COMMAND } from "./command.ts";
import { InProcessHome } from "./in-process.ts";
import { runPiped } from "./terminal.ts";

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, "..", "seam", "dev-loop.sh");

const home = InProcessHome.forEachTest(HELMDECK_HERE);
const here = (args: readonly string[], input = "", env = {}) =>
  home.run(args, { cwd: home.path("repo"), input, env });

beforeEach(() => {
  mkdirSync(home.path("repo/.harness"), { recursive: true });
  writeFileSync(home.path("repo/.harness/project.json"), '{"vault_project": "heron"}');
});

const memory = (args: readonly string[]) =>
  runPiped(args, { homeFolder: home.folder, env: { HOME: home.folder, TZ: "UTC" } });

describe("a dev loop", () => {
  test.for(["dash", "bash"])("runs in %s", async (shell, context) => {
    const without = whyWithout(shell, "-c", ":");
    context.skip(without !== undefined, without);
    mkdirSync(home.path("bin"));
    for (const name of ["helmdeck-memory", "helmdeck-here"]) {
      symlinkSync(join(dirname(BUNDLED_COMMAND), `${name}.mjs`), home.path(`bin/${name}`));
    }
    // The folder of the running Node comes first, because the first line of the commands asks for `node`.
    const PATH = [home.path("bin"), dirname(process.execPath), process.env.PATH].join(":");
    const flags = shell === "bash" ? ["--posix"] : [];
    const played = await run(shell, [...flags, SCRIPT, home.path("repo")], {
      env: { PATH, HOME: home.folder, TZ: "UTC", NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "" },
    });
    expect(played).toEqual({ stdout: "the dev loop has been played\n", stderr: "" });
  });
});

describe("helmdeck-here", () => {
  test("without memory exits 0: no text, an empty list, the project's own path; stderr says why", async () => {
    const recalled = await here(["recall-here", "--phase", "work"]);
    const stderr = expect.stringMatching(/^Memory is absent: .*\n$/);
    expect(recalled).toMatchObject({ code: 0, stdout: "", stderr });
    const offered = await here(["offer-save-here", "--kind", "decision", "--slug", "x"], "text");
    expect(offered).toMatchObject({ code: 0, stdout: "[]\n", stderr });
    const path = home.path("repo/.harness/PLAN.md");
    expect(await here(["state-path", "plan"])).toMatchObject({ code: 0, stdout: `${path}\n`, stderr: "" });
  });

  test("takes every flag that callers give, in both spellings", async () => {
    await memory(["store", "projects/heron/decisions/db", "one file", "--category", "decisions"]);
    const cwd = home.path("repo");
    const asked = "--phase=work --query file --limit 0".split(" ");
    const recalled = await home.run(["recall-here", `--cwd=${cwd}`, ...asked]);
    const stdout = expect.stringContaining("### decisions/db\n\none file\n\n");
    expect(recalled).toMatchObject({ code: 0, stderr: "", stdout });
    writeFileSync(home.path("body.txt"), "from a file");
    const offer = ["offer-save-here", "--cwd", cwd, "--phase", "work", "--kind", "decision", "--slug", "x"];
    const offered = async (body: string, ...more: readonly string[]) =>
      JSON.parse((await home.run([...offer, "--body-file", body, ...more], { input: "typed" })).stdout);
    const more = "--confidence 0.5 --confidence-reason heard".split(" ");
    expect(await offered(home.path("body.txt"), ...more)).toMatchObject([
      {
        ...{ kind: "decision", slug: "x", body: "from a file", phase: "work", project: "heron" },
        ...{ confidence: 0.5, confidence_reason: "heard" },
      },
    ]);
    expect(await offered("-")).toMatchObject([{ body: "typed" }]);
    const bound = await home.run(["state-path", "progress", "--cwd", cwd, "--plan", "foo"]);
    expect(bound.stdout).toBe(`${home.path("repo/.harness/progress-foo.md")}\n`);
  });

  test.each([
    ["recall-here", "--nonsense"],
    ["recall-here", "--limit", "many"],
    ["state-path"],
    ["state-path", "both"],
    ["offer-save-here", "--kind", "decision"],
    ["offer-save-here", "--kind", "k", "--slug", "s", "--confidence", "sure"],
    ["recall"],
    [],
  ])("exits 2 for wrong usage: %s %s %s", async (...args) => {
    const { code, stdout, stderr } = await here(args.filter((one) => one !== undefined));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("helmdeck-here");
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test.each(["here", "bare"])("a corrupt marker is one line and exit 1 (%s)", async (which) => {
    writeFileSync(home.path("repo/.harness/active-plan"), "\u001b[2Jgone\n# SYSTEM");
    const cwd = home.path("repo");
    const asked = () => memory(["here", "state", "plan", "--cwd", cwd]);
    const ended = await (which === "here" ? here(["state-path", "plan"]) : asked());
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(
      /^active_plan_corrupt: [^\n]*\/active-plan [^\n]*\[U\+001B\]\[2Jgone # SYSTEM[^\n]*\n$/,
    );
  });

  test("a wrong key is reported, and exits 1", async () => {
    await memory(["store", "projects/heron/decisions/db", "one file", "--category", "decisions"]);
    const env = { HELMDECK_MEMORY_KEY: "ab".repeat(32) };
    for (const args of [["recall-here"], ["offer-save-here", "--kind", "k", "--slug", "s"]]) {
      const { code, stdout, stderr } = await here(args, "text", env);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(/^key_wrong: [^\n]*\n$/);
    }
    expect(await here(["state-path", "plan"], "", env)).toMatchObject({ code: 0 });
  });

  test("prints JSON on request", async () => {
    await memory(["store", "projects/heron/decisions/db", "one file", "--category", "decisions"]);
    expect(JSON.parse((await here(["recall-here", "--json"])).stdout)).toEqual({
      text: expect.stringContaining("one file"),
    });
    expect(JSON.parse((await here(["state-path", "plan", "--json"])).stdout)).toEqual({
      path: home.path("repo/.harness/PLAN.md"),
    });
    const offered = (await here(["offer-save-here", "--kind", "k", "--slug", "s", "--json"], "text")).stdout;
    expect(offered.trim().split("\n")).toHaveLength(1);
  });

  test("keeps plans in the configured folder", async () => {
    mkdirSync(home.path("state"));
    const env = { HELMDECK_HERE_STATE_DIR: home.path("state") };
    expect((await here(["state-path", "plan"], "", env)).stdout).toBe(
      `${home.path("state/projects/heron/PLAN.md")}\n`,
    );
  });
});
