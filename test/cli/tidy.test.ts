/** `tidy` over a memory grown from four imports: at a terminal, in a script, and everything undone. */
import { stripVTControlCharacters } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { GROWN_FROM, grownFile } from "../transfer/grown-memory.ts";
import { CommandHome } from "./command.ts";
import { runOnTerminal, runPiped } from "./terminal.ts";

const home = CommandHome.forEachTest();
beforeEach(async () => {
  for (const [format, file] of GROWN_FROM) await piped("import", grownFile(file), "--from", format, "--yes");
});

const piped = (...args: readonly string[]) => runPiped(args, { homeFolder: home.folder });
async function terminal(args: readonly string[], typed: string | (() => Promise<string>)) {
  const seen = await runOnTerminal(args, { homeFolder: home.folder, typed });
  return { ...seen, stdout: stripVTControlCharacters(seen.stdout), stderr: seen.stderr };
}

interface Listed {
  readonly findings: readonly {
    readonly kind: string;
    readonly facts: readonly { readonly key: string; readonly value: string }[];
  }[];
  readonly found: Readonly<Record<string, number>>;
  readonly revision: number;
}

async function review(): Promise<Listed> {
  return JSON.parse((await piped("tidy", "--json")).stdout) as Listed; // its documented shape
}

const keysOf = ({ facts }: Listed["findings"][number]) => facts.map(({ key }) => key);

/** All facts but for what each write changes. */
async function everything(): Promise<unknown> {
  const { facts } = JSON.parse((await piped("list", "--json")).stdout) as {
    facts: Record<string, unknown>[];
  };
  const plain = facts.map(({ revision: _, ...fact }) => fact);
  return plain.sort((one, other) => String(one.key).localeCompare(String(other.key)));
}

/** What was printed after "To undo this: helmdeck-memory". */
function undoIn(stdout: string): readonly string[] {
  const [, line = ""] = /To undo this: helmdeck-memory (.*)/.exec(stdout) ?? [];
  return line.split(" ");
}

describe("without a terminal, tidy", () => {
  test("lists what was found, with the commands that settle it, and changes nothing", async () => {
    const before = await everything();
    const { code, stdout, stderr } = await piped("tidy");
    expect(code).toBe(0);
    expect(stdout).toContain("The same under 4 keys");
    expect(stdout).toContain("These contradict each other");
    expect(stdout).toMatch(/\$ helmdeck-memory tidy --keep \S+ --over \S+ \S+ \S+ --up-to \d+\n/);
    expect(stdout).toMatch(/\$ helmdeck-memory tidy --apart \S+ \S+ --up-to \d+\n/);
    expect(stderr).toMatch(/^Found \d+ duplicates?, \d+ conflicts?/);
    expect(await everything()).toEqual(before);
  });

  test("gives programs the same as JSON", async () => {
    const { findings, found, revision } = await review();
    expect(findings[0]?.kind).toBe("duplicate");
    const values = (findings[0]?.facts ?? []).map(({ value }) => value.toLowerCase().replaceAll(/[.*]/g, ""));
    expect(values).toEqual(Array.from({ length: 4 }, () => "allergy: penicillin"));
    expect(found.conflict).toBeGreaterThan(0);
    expect(revision).toBeGreaterThan(0);
  });

  // verifies P-tidy-loses-nothing
  test("merges by a copied command, and the printed command undoes it", async () => {
    const before = await everything();
    const [first] = (await review()).findings;
    const copied = /\$ helmdeck-memory (tidy --keep .*)/.exec((await piped("tidy")).stdout)?.[1] ?? "";
    const { code, stdout } = await piped(...copied.split(" "));
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Kept \S+ over \S+, \S+, \S+\. To undo/),
    });
    const [kept = "", ...others] = first === undefined ? [] : keysOf(first);
    const { former } = JSON.parse((await piped("history", kept, "--json")).stdout) as {
      former: { key: string }[];
    };
    expect(former.map(({ key }) => key)).toEqual(expect.arrayContaining(others));
    expect((await review()).findings.flatMap(keysOf)).not.toContain(others[0]);
    await piped(...undoIn(stdout));
    expect(await everything()).toEqual(before);
  });

  test("does not merge what somebody changed since the list, and names it", async () => {
    const copied =
      /\$ helmdeck-memory (tidy --keep (\S+) --over (\S+) .*)/.exec((await piped("tidy")).stdout) ?? [];
    await piped("store", copied[3] ?? "", "changed");
    const before = await everything();
    const { code, stderr } = await piped(...(copied[1] ?? "").split(" "));
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`changed_meanwhile: Somebody else changed the fact "${copied[3]}"`),
    ]);
    expect(await everything()).toEqual(before);
  });

  test("shows in a dry run what it would do", async () => {
    const before = await everything();
    const [first] = (await review()).findings;
    const [one = "", two = ""] = first === undefined ? [] : keysOf(first);
    expect((await piped("tidy", "--keep", one, "--over", two, "--dry-run")).stdout).toBe(
      `Nothing is changed. ${one} stays; ${two} becomes its history.\n`,
    );
    expect((await piped("tidy", "--apart", one, two, "--dry-run")).stdout).toMatch(
      /^Nothing is changed\. Both stay/,
    );
    expect(await everything()).toEqual(before);
  });

  test("keeps facts apart, of which no list and no export says anything", async () => {
    const [first] = (await review()).findings;
    const keys = first === undefined ? [] : keysOf(first);
    const told = async () => [
      await everything(),
      (await piped("export", "--with-history")).stdout.split("\n").sort(),
    ];
    const before = await told();
    expect((await piped("tidy", "--apart", ...keys)).stdout).toMatch(
      /^Kept .* To undo this: helmdeck-memory tidy --ask-again /,
    );
    expect(await told()).toEqual(before);
    expect((await review()).findings.map(keysOf)).not.toContainEqual(keys);
  });

  test.each([
    [["--keep", "a"], "belong together"],
    [["--over", "a"], "belong together"],
    [["--keep", "a", "--over", "b", "--apart", "a", "b"], "alternatives"],
  ])("refuses %j", async (args, message) => {
    expect(await piped("tidy", ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});

describe("at a terminal, tidy", () => {
  test("asks about one finding after the other, and does nothing before an answer", async () => {
    const before = await everything();
    const { findings } = await review();
    const { code, stdout, stderr } = await terminal(["tidy"], "s\n".repeat(findings.length));
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr.match(/ > /g)).toHaveLength(findings.length);
    expect(stderr).toMatch(/That is all\.\n$/);
    expect(await everything()).toEqual(before);
  });

  test.each(["q\n", "", "?\nx9\nb\nn\nq\n", "k\nn\nq\n", "f2\n\nq\n", "f\nq\n", "k99\nq\n"])(
    "changes nothing after %j",
    async (typed) => {
      const before = await everything();
      expect((await terminal(["tidy"], typed)).code).toBe(0);
      expect(await everything()).toEqual(before);
    },
  );

  test("keeps one over the others after a preview, and tells how to undo it", async () => {
    const before = await everything();
    const { stdout, stderr } = await terminal(["tidy"], "k\n\nq\n");
    expect(stderr).toMatch(/The same under 4 keys\n 1 {2}.*\n.*\n 2 {2}(?:.|\n)*k keep 1 over the others/);
    expect(stderr).toMatch(/\S+ stays; \S+, \S+, \S+ become its history\.\nDo it\? \[Y\/n\] /);
    expect(stdout).toMatch(/^Kept \S+\. To undo this: helmdeck-memory undo \S+\n$/);
    expect(await everything()).not.toEqual(before);
    await piped(...undoIn(stdout));
    expect(await everything()).toEqual(before);
  });

  test("keeps another one on request: a conflict is settled for the older fact", async () => {
    const { findings } = await review();
    const place = findings.findIndex(({ kind }) => kind === "conflict");
    const [newer = "", older = ""] = keysOf(findings[place] ?? { kind: "", facts: [] });
    const before = await everything();
    const { stdout } = await terminal(["tidy"], `${"s\n".repeat(place)}k2\ny\nq\n`);
    expect(stdout).toContain(`Kept ${older}.`);
    expect((await piped("get", newer)).code).toBe(1);
    await piped(...undoIn(stdout));
    expect(await everything()).toEqual(before);
  });

  test("keeps both: the finding is not shown again, until that is undone", async () => {
    const before = await everything();
    const first = await review();
    const { stdout } = await terminal(["tidy"], "b\n\nq\n");
    expect(await everything()).toEqual(before);
    expect((await review()).found.duplicate).toBe((first.found.duplicate ?? 0) - 1);
    expect((await piped(...undoIn(stdout))).code).toBe(0);
    expect((await review()).findings).toHaveLength(first.findings.length);
  });

  test("forgets one after a yes, and what is stored back is there again", async () => {
    const [first] = (await review()).findings;
    const [, second = ""] = first === undefined ? [] : keysOf(first);
    const value = (await piped("get", second)).stdout.trimEnd();
    const { stdout, stderr } = await terminal(["tidy"], "f2\ny\nq\n");
    expect(stderr).toContain("for good. No undo brings it back.\nDelete? [y/N] ");
    expect(stdout).toBe(`Forgot ${second}, for good.\n`);
    expect((await piped("get", second)).code).toBe(1);
    await piped("store", second, value);
    expect((await review()).findings[0]?.facts).toHaveLength(4);
  });

  test("keeps what expires soon, and the printed command gives it its former end", async () => {
    await piped("store", "soon", "The fair is at the harbour", "--ttl", "3d");
    const place = (await review()).findings.findIndex(({ kind }) => kind === "expiring");
    const { stdout, stderr } = await terminal(["tidy"], `${"s\n".repeat(place)}k\n\nq\n`);
    expect(stderr).toContain("soon is kept as long as a new fact.");
    expect((await review()).found.expiring).toBe(0);
    await piped(...undoIn(stdout));
    expect((await review()).found.expiring).toBe(1);
  });

  test("leaves what somebody changed while the question was open, and goes on", async () => {
    const [first] = (await review()).findings;
    const [, second = ""] = first === undefined ? [] : keysOf(first);
    const { code, stderr } = await terminal(["tidy"], async () => {
      await piped("store", second, "changed meanwhile");
      return "k\n\nq\n";
    });
    expect(code).toBe(0);
    expect(stderr).toContain(`Somebody else changed the fact "${second}" meanwhile`);
    expect((await piped("get", second)).stdout).toBe("changed meanwhile\n");
  });

  test("goes through all of them, and then there is nothing left", async () => {
    const { stderr } = await terminal(["tidy"], "k\n\n".repeat(50));
    expect(stderr).toMatch(/That is all\.\n$/);
    expect((await review()).findings).toEqual([]);
    expect((await terminal(["tidy"], "")).stderr).toBe(
      "Nothing to tidy up: no duplicates, no conflicts, and nothing expires within 14 days.\nThat is all.\n",
    );
  });
});
