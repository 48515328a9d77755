/** A key that a command prints, such as the command of a vault or a password manager. */
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runKeyCommand } from "../../cli/memory-options.ts";
import { CommandHome } from "./command.ts";

const home = CommandHome.forEachTest();

const KEY = "c0ffee".padEnd(64, "1");
const asked = (...argv: readonly string[]) => ({ HELMDECK_MEMORY_KEY_COMMAND: JSON.stringify(argv) });

describe("HELMDECK_MEMORY_KEY_COMMAND", () => {
  test("opens memory with the printed key for every command, and shows only the program's name", async () => {
    await home.write("key", `${KEY}\n`);
    const env = asked("cat", home.path("key"));
    expect(await home.run(["store", "editor", "vim"], { env })).toMatchObject({ code: 0 });
    expect(await home.run(["get", "editor"], { env: { HELMDECK_MEMORY_KEY: KEY } })).toMatchObject({
      stdout: "vim\n",
    });
    const { code, stdout, stderr } = await home.run(["doctor"], { env });
    expect(code).toBe(0);
    expect(stdout).toContain("The key comes from HELMDECK_MEMORY_KEY_COMMAND (cat).");
    expect(stdout + stderr).not.toContain(KEY);
    expect(existsSync(home.keyPath)).toBe(false);
  });

  test("is not interpreted by a shell", async () => {
    const env = asked("printf", "%s", `$(touch ${home.path("made")})${KEY}`);
    expect(await home.run(["list"], { env })).toMatchObject({ code: 1 });
    expect(existsSync(home.path("made"))).toBe(false);
  });

  // verifies P-key-never-shown, P-key-never-guessed
  test.each([
    [
      "fails",
      ["sh", "-c", `echo ${KEY}; echo token-${KEY} >&2; exit 3`],
      "key_unreadable",
      "ended with exit code 3",
    ],
    ["is not there", ["no-such-program", KEY], "key_unreadable", "the command no-such-program was not found"],
    ["prints nothing", ["true"], "key_missing", "printed no key"],
    ["prints something else", ["echo", `${KEY}${KEY}`], "key_malformed", "has 128 characters"],
    ["prints without end", ["yes", KEY], "key_unreadable", "printed more than a key"],
  ] as const)(
    "that %s closes memory, says why, and shows nothing of what it printed",
    async (_, argv, code, why) => {
      const done = await home.run(["store", "editor", "vim"], { env: asked(...argv) });
      expect(done).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(why) });
      expect(done.stderr).toMatch(new RegExp(`^${code}: `));
      expect(done.stderr).not.toContain(KEY);
      expect(existsSync(home.keyPath)).toBe(false);
    },
  );

  test.each([`cat ${KEY}`, '"cat"', "[]", '[""]', "[1]", '{"cat": 1}'])(
    "that is not a JSON list of strings is refused, and not repeated: %s",
    async (setting) => {
      const done = await home.run(["list"], { env: { HELMDECK_MEMORY_KEY_COMMAND: setting } });
      expect(done).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^key_unreadable: .* a JSON list/),
      });
      expect(done.stderr).not.toContain(KEY);
    },
  );

  test("that hangs is killed", async () => {
    const shell = { env: { PATH: process.env.PATH } };
    await expect(runKeyCommand(shell, ["sleep", "600"], 20)).rejects.toMatchObject({ killed: true });
  });
});
