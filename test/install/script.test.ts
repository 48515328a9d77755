/** install.sh itself: clean, the same under every shell, harmless when cut off at any byte, and clear when Node is missing. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const script = join(root, "install", "install.sh");
const text = readFileSync(script);
const CUT_EVERY = 64;

const SHELLS = [["dash"], ["bash"], ["busybox", "ash"], ["sh"]].filter(
  ([file = "", ...args]) => spawnSync(file, [...args, "-c", ":"]).status === 0,
);

/** A package whose program only says that it was run, so that nothing but install.sh is tested. */
let sandbox: string;
let packageRoot: string;

beforeAll(() => {
  sandbox = realpathSync(mkdtempSync(join(tmpdir(), "hd-script-")));
  packageRoot = join(sandbox, "package");
  for (const folder of ["package/install", "package/dist", "bin", "home"])
    mkdirSync(join(sandbox, folder), { recursive: true });
  cpSync(script, join(packageRoot, "install", "install.sh"));
  writeFileSync(
    join(packageRoot, "dist", "install.mjs"),
    'import { appendFileSync } from "node:fs"; appendFileSync(process.env.HOME + "/ran", JSON.stringify(process.argv.slice(2)) + "\\n");',
  );
});

afterAll(() => rmSync(sandbox, { recursive: true, force: true }));

describe("install.sh", () => {
  it.skipIf(spawnSync("shellcheck", ["--version"]).status !== 0)("has nothing for shellcheck to say", () => {
    const { status, stdout } = spawnSync("shellcheck", [
      "--enable=all",
      "--exclude=SC2310,SC2312,SC2250",
      script,
    ]);
    expect(stdout.toString()).toBe("");
    expect(status).toBe(0);
  });

  it.each(SHELLS.map((shell) => [shell.join(" "), shell]))(
    "runs the program under %s, arguments whole",
    (_, shell) => {
      clearHome();
      const { status, stderr } = run([
        ...shell,
        join(packageRoot, "install", "install.sh"),
        "--a b",
        "*",
        "",
      ]);
      expect(stderr).toBe("");
      expect(status).toBe(0);
      expect(ran()).toBe('["--a b","*",""]\n');
    },
  );

  it("runs through links, from a folder with a space, with CDPATH set", () => {
    clearHome();
    const spaced = join(sandbox, "a b");
    cpSync(packageRoot, spaced, { recursive: true });
    symlinkSync("../a b/install/install.sh", join(sandbox, "bin", "linked"));
    const { status, stderr } = run(["sh", join(sandbox, "bin", "linked"), "x"], { CDPATH: "/:/tmp" });
    expect([status, stderr]).toEqual([0, ""]);
    expect(ran()).toBe('["x"]\n');
  });

  it("does nothing when it was cut off, at every 64 bytes", () => {
    const cut = join(packageRoot, "install", "cut.sh");
    const done: string[] = [];
    for (let length = 0; length < text.length - 1; length += CUT_EVERY) {
      clearHome();
      writeFileSync(cut, text.subarray(0, length));
      const before = files();
      run(["sh", cut, "--yes"]);
      if (ran() !== "" || files().join() !== before.join()) done.push(`${length} bytes`);
    }
    expect(done).toEqual([]);
    rmSync(cut);
  });

  it("says what to do where there is no Node, or an old one", () => {
    const tools = join(sandbox, "tools");
    mkdirSync(tools, { recursive: true });
    for (const name of ["sh", "dirname", "readlink"])
      symlinkSync(
        spawnSync("sh", ["-c", `command -v ${name}`])
          .stdout.toString()
          .trim(),
        join(tools, name),
      );
    const none = run(["/bin/sh", join(packageRoot, "install", "install.sh")], { PATH: tools });
    expect([none.status, none.stderr]).toEqual([2, expect.stringContaining("Node 24.16 or later")]);
    writeFileSync(join(tools, "node"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const old = run(["/bin/sh", join(packageRoot, "install", "install.sh")], { PATH: tools });
    expect([old.status, old.stderr]).toEqual([2, expect.stringContaining("Node 24.16 or later")]);
    const given = run(["/bin/sh", join(packageRoot, "install", "install.sh")], {
      PATH: tools,
      HELMDECK_NODE: process.execPath,
    });
    expect([given.status, given.stderr]).toEqual([0, ""]);
  });
});

function run(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [file = "", ...args] = command;
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
  const options = {
    env: { PATH, HOME: join(sandbox, "home"), ...env },
    cwd: sandbox,
    encoding: "utf8",
  } as const;
  const { status, stderr } = spawnSync(file, args, options);
  return { status, stderr };
}

function clearHome(): void {
  rmSync(join(sandbox, "home"), { recursive: true, force: true });
  mkdirSync(join(sandbox, "home"));
}

function ran(): string {
  const file = join(sandbox, "home", "ran");
  return globSync(file).length === 0 ? "" : readFileSync(file, "utf8");
}

const files = () => globSync(join(sandbox, "**")).sort();
