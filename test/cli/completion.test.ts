/** Completion, including a real bash. completion.integration.test.ts covers zsh and fish. */
import { beforeAll, describe, expect, test } from "vitest";
import { CommandHome } from "./command.ts";
import { tabIn } from "./shells.ts";
import { runPiped } from "./terminal.ts";

const home = CommandHome.forAllTests();

const run = (args: readonly string[], typed = "") => runPiped(args, { homeFolder: home.folder, typed });
const offered = async (...words: readonly string[]) => {
  const { code, stdout, stderr } = await run(["complete", "--", ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").flatMap((line) => line.split("\t")[0] || []);
};

/** A shell would act on these texts if it evaluated them. */
const HOSTILE = ["$(touch pwned)", "`touch pwned`", "a;touch pwned", "-rf", "a b", "a'b", "~root", "*"];

beforeAll(async () => {
  for (const key of ["deploy/konflux", "deploy/argo", "wifi", "schlüssel", ...HOSTILE]) {
    await run(["store", "--", key, "-"], "v");
  }
  await run(["store", "theirs", "v", "--caller", "other"]);
});

describe("candidates", () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ["a command", ["fo"], ["forget"]],
    ["a command of a group", ["key", ""], ["saved", "help"]],
    ["an option of the command", ["search", "--rec"], ["--recall"]],
    ["an option that all have", ["list", "--ca"], ["--category", "--caller"]],
    ["the choices of an option", ["search", "--recall", "q"], ["quiet"]],
    ["the choices of an argument", ["completion", ""], ["bash", "zsh", "fish"]],
    ["a key", ["get", "dep"], ["deploy/argo", "deploy/konflux"]],
    [
      "a key after an option with a value",
      ["renew", "--ttl", "1d", "dep"],
      ["deploy/argo", "deploy/konflux"],
    ],
    ["a key for an alias", ["rm", "wi"], ["wifi"]],
    ["a key as an option's value", ["store", "new", "v", "--supersedes", "wi"], ["wifi"]],
    ["a key of another caller", ["--caller", "other", "get", ""], ["theirs"]],
    ["a key of another caller, written with =", ["get", "--caller=other", ""], ["theirs"]],
    ["a key after --", ["get", "--", "wi"], ["wifi"]],
    ["nothing after the only argument", ["get", "wifi", ""], []],
    ["nothing for a file", ["import", ""], []],
    ["nothing for what is no command", ["nonsense", ""], []],
  ])("%s", async (_, words, expected) => {
    expect([...(await offered(...words))].sort()).toEqual([...expected].sort());
  });

  test("include every command of the help, and not the internal completion command", async () => {
    const commands = await offered("");
    expect(commands).toContain("store");
    expect(commands).not.toContain("complete");
  });

  // verifies P-text-harmless
  test("include no key with a special meaning to a shell", async () => {
    expect([...(await offered("get", ""))].sort()).toEqual([
      "deploy/argo",
      "deploy/konflux",
      "schlüssel",
      "wifi",
    ]);
    expect(await offered("get", "$(")).toEqual([]);
  });

  test("are empty without a memory, and none is created", async () => {
    const empty = new CommandHome();
    const { code, stdout, stderr } = await runPiped(["complete", "--", "get", ""], {
      homeFolder: empty.folder,
    });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
    const listed = await runPiped(["complete", "--", "get", "--db", "/nowhere/x.sqlite", ""], {
      homeFolder: empty.folder,
    });
    expect(listed).toEqual({ code: 0, stdout: "", stderr: "" });
    empty.remove();
  });
});

test("in bash, Tab completes commands, options and keys", async () => {
  expect(await tabIn("bash", home, "helmdeck-memory forg")).toEqual(["forget"]);
  expect(await tabIn("bash", home, "helmdeck-memory get deploy/k")).toEqual(["deploy/konflux"]);
  expect(await tabIn("bash", home, "helmdeck-memory search --expl")).toEqual(["--explain"]);
});
