/** The bundled command in a real terminal, which the system's `script` command provides. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { BUNDLED_COMMAND, CommandHome } from "./command.ts";

const WAIT = { timeout: 20_000, interval: 50 };

const home = CommandHome.forEachTest();

/** The text that the terminal shows: both streams, with a terminal's line ends. */
async function atTerminal(args: readonly string[], typed = ""): Promise<string> {
  const command = [process.execPath, BUNDLED_COMMAND, ...args];
  const quoted = command.map((part) => `'${part}'`).join(" ");
  const recorder =
    process.platform === "linux" ? ["-qec", quoted, "/dev/null"] : ["-q", "/dev/null", ...command];
  const child = spawn("script", recorder, {
    env: { PATH: process.env.PATH, HOME: home.folder, TERM: "xterm" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(typed);
  return (await text(child.stdout)).replaceAll("\r\n", "\n");
}

describe.runIf(existsSync("/usr/bin/script"))("at a real terminal", () => {
  test("a server ends when the terminal is closed, and not by a SIGHUP before", async () => {
    const [out, log] = [home.path("out"), home.path("log")];
    const serve = `exec '${process.execPath}' '${BUNDLED_COMMAND}' serve --port 0 --json >'${out}' 2>'${log}'`;
    const recorder = spawn("script", ["-qec", `echo $$; ${serve}`, "/dev/null"], {
      env: { PATH: process.env.PATH, HOME: home.folder, TERM: "xterm", HELMDECK_MEMORY_KEY: "0f".repeat(32) },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const pid = Number(String(await once(recorder.stdout, "data")));
    await vi.waitUntil(async () => (await readFile(out, "utf8").catch(() => "")) !== "", WAIT);
    process.kill(pid, "SIGHUP");
    await vi.waitUntil(async () => (await readFile(log, "utf8")).includes("settings were read again"), WAIT);
    recorder.kill("SIGKILL");
    await vi.waitUntil(async () => (await readFile(log, "utf8")).includes('"msg":"stopped"'), WAIT);
  });

  test("open shows a new address after Enter, and ends with the input", async () => {
    const shown = await atTerminal(["open", "--no-browser"], "\n");
    expect(new Set(shown.match(/http:\S+\/sign-in\/[\w-]{43}/g))).toHaveLength(2);
    expect(shown).toMatch(/Enter shows a new address\..*Ended\./s);
  });

  test("import shows a progress bar and a summary", async () => {
    const lines = Array.from({ length: 2_500 }, (_none, index) =>
      JSON.stringify({ key: `k/${index}`, value: "v" }),
    );
    await home.write("facts.jsonl", lines.join("\n"));
    const shown = await atTerminal(["import", home.path("facts.jsonl")]);
    expect(shown).toMatch(/[█░]+ \d+ % · \d+ lines/);
    expect(stripVTControlCharacters(shown)).toContain("Imported 2500 for main: 2500 new");
  });

  test("forget asks, and deletes only after a yes", async () => {
    await home.run(["store", "doomed", "x"]);
    expect(await atTerminal(["forget", "key:doomed"], "n\n")).toMatch(
      /Delete\? \[y\/N\] Nothing was deleted\./,
    );
    expect(await home.run(["get", "doomed"])).toMatchObject({ code: 0 });
    expect(await atTerminal(["forget", "key:doomed"], "y\n")).toMatch(/Deleted the fact /);
    expect(await home.run(["get", "doomed"])).toMatchObject({ code: 1 });
  });

  test("tidy asks about a duplicate, and the command that it prints undoes the merge", async () => {
    for (const key of ["allergy", "mem0/7"]) await home.run(["store", key, "Allergic to penicillin"]);
    const shown = stripVTControlCharacters(await atTerminal(["tidy"], "k\n\nq\n"));
    expect(shown).toMatch(
      /The same under 2 keys\n 1 {2}mem0\/7 .*\n.*\n 2 {2}allergy (?:.|\n)*mem0\/7 stays; allergy becomes its history\.\nDo it\? \[Y\/n\] Kept mem0\/7\. To undo this: helmdeck-memory undo mem0\/7\nThat is all\./,
    );
    expect(await home.run(["get", "allergy"])).toMatchObject({ code: 1 });
    await home.run(["undo", "mem0/7"]);
    expect(await home.run(["get", "allergy"])).toMatchObject({ code: 0 });
  });

  test("search is coloured, list too", async () => {
    await home.run(["store", "birds/heron", "The heron stands at the lake"]);
    expect(await atTerminal(["search", "heron"])).toContain(
      '\u001b[1mThe heron stands at the lake\u001b[22m\n    \u001b[2mfact "birds/heron" in user_facts, stored ',
    );
    expect(await atTerminal(["list"])).toContain("    \u001b[1mThe heron stands at the lake\u001b[22m");
  });
});
