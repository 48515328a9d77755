/** install.sh under the system's own shell: complete, harmless if it is truncated at any byte, and clear if Node is missing. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SCRIPT, ScriptSandbox } from "./script-sandbox.ts";

const text = readFileSync(SCRIPT);
const CUT_EVERY = 64;

let sandbox: ScriptSandbox;
beforeAll(() => {
  sandbox = new ScriptSandbox();
});
afterAll(() => sandbox.remove());

describe("install.sh", () => {
  it("runs the program and passes arguments unchanged", () => {
    const { status, stderr } = sandbox.run(["sh", sandbox.script, "--a b", "*", ""]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(sandbox.ran()).toBe('["--a b","*",""]\n');
  });

  it("runs through symbolic links, from a folder with a space, and with CDPATH set", () => {
    sandbox.clearHome();
    const spaced = join(sandbox.folder, "a b");
    cpSync(sandbox.packageRoot, spaced, { recursive: true });
    symlinkSync("../a b/install/install.sh", join(sandbox.folder, "bin", "linked"));
    const { status, stderr } = sandbox.run(["sh", join(sandbox.folder, "bin", "linked"), "x"], {
      CDPATH: "/:/tmp",
    });
    expect([status, stderr]).toEqual([0, ""]);
    expect(sandbox.ran()).toBe('["x"]\n');
  });

  // OpenClaw refuses a plugin that every account may write.
  it.each([
    ["0", 0o644],
    ["002", 0o644],
    ["077", 0o600],
  ])("under umask %s, lets no other account write what it makes", (umask, mode) => {
    sandbox.clearHome();
    sandbox.run(["sh", "-c", `umask ${umask}; exec sh "$0"`, sandbox.script]);
    expect(sandbox.modeOfRun()).toBe(mode);
  });

  it("does nothing if it is truncated, tested at every 64 bytes", () => {
    const cut = join(sandbox.packageRoot, "install", "cut.sh");
    const done: string[] = [];
    for (let length = 0; length < text.length - 1; length += CUT_EVERY) {
      sandbox.clearHome();
      writeFileSync(cut, text.subarray(0, length));
      const before = sandbox.files();
      sandbox.run(["sh", cut, "--yes"]);
      if (sandbox.ran() !== "" || sandbox.files().join() !== before.join()) done.push(`${length} bytes`);
    }
    expect(done).toEqual([]);
    rmSync(cut);
  });

  it("names a remedy if Node is missing or too old", () => {
    const tools = join(sandbox.folder, "tools");
    mkdirSync(tools, { recursive: true });
    for (const name of ["sh", "dirname", "readlink"])
      symlinkSync(
        spawnSync("sh", ["-c", `command -v ${name}`])
          .stdout.toString()
          .trim(),
        join(tools, name),
      );
    const none = sandbox.run(["/bin/sh", sandbox.script], { PATH: tools });
    expect([none.status, none.stderr]).toEqual([2, expect.stringContaining("Node 24.16 or later")]);
    writeFileSync(join(tools, "node"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const old = sandbox.run(["/bin/sh", sandbox.script], { PATH: tools });
    expect([old.status, old.stderr]).toEqual([2, expect.stringContaining("Node 24.16 or later")]);
    const given = sandbox.run(["/bin/sh", sandbox.script], {
      PATH: tools,
      HELMDECK_NODE: process.execPath,
    });
    expect([given.status, given.stderr]).toEqual([0, ""]);
  });
});
