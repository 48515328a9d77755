/** install.sh has no lint findings, and behaves the same in every shell that may run it. */
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { whyWithout } from "../run/programs.ts";
import { SCRIPT, ScriptSandbox } from "./script-sandbox.ts";

const SHELLS = [["dash"], ["bash"], ["busybox", "ash"]];

let sandbox: ScriptSandbox;
beforeAll(() => {
  sandbox = new ScriptSandbox();
});
afterAll(() => sandbox.remove());

describe("install.sh", () => {
  it("passes shellcheck", (context) => {
    const without = whyWithout("shellcheck", "--version");
    context.skip(without !== undefined, without);
    const args = ["--enable=all", "--exclude=SC2310,SC2312,SC2250", SCRIPT];
    const { status, stdout } = spawnSync("shellcheck", args, { encoding: "utf8" });
    expect([status, stdout]).toEqual([0, ""]);
  });

  it.for(SHELLS)(
    "runs the program in %j and passes arguments unchanged",
    ([shell = "", ...applet], context) => {
      const without = whyWithout(shell, ...applet, "-c", ":");
      context.skip(without !== undefined, without);
      sandbox.clearHome();
      const { status, stderr } = sandbox.run([shell, ...applet, sandbox.script, "--a b", "*", ""]);
      expect([status, stderr]).toEqual([0, ""]);
      expect(sandbox.ran()).toBe('["--a b","*",""]\n');
    },
  );
});
