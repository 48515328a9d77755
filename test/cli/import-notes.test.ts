/** Import of notes from a shell: the preview, the question, the list of imports, and how to forget one. */
import { cpSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, test } from "vitest";
import { CommandHome } from "./command.ts";
import { runOnTerminal, runPiped } from "./terminal.ts";

const NOTES = fileURLToPath(new URL("../fixtures/notes", import.meta.url));

const home = CommandHome.forEachTest();
beforeEach(() => {
  cpSync(NOTES, home.folder, { recursive: true });
});

const at = (name: string) => join(home.folder, name);
const onTerminal = (args: readonly string[], typed = "") =>
  runOnTerminal(args, { homeFolder: home.folder, typed });
const piped = (args: readonly string[]) => runPiped(args, { homeFolder: home.folder });
const fromWorkspace = () => ["import", "--from", "openclaw", at("workspace")];
const factCount = async () => JSON.parse((await piped(["list", "--json"])).stdout).facts.length;

test("a person sees a preview and is asked", async () => {
  const no = await onTerminal(fromWorkspace(), "n\n");
  expect(no).toMatchObject({ code: 1, stdout: "" });
  expect(no.stderr).toContain("This would import 14 for main: 14 new.");
  expect(no.stderr).toContain(
    "  memory/deploys/production: **Production:** through Konflux, staging first. (new)\n",
  );
  expect(no.stderr).toContain("  … and 4 more.\n");
  expect(no.stderr).toMatch(
    /Left out: .*a superseded directive.*\n(?: {2}\S+, left out: .* \(line \d.*\)\n)+Imported facts expire .* \(in 90 days\)\.\n/,
  );
  expect(no.stderr).toMatch(/Import\? \[y\/N\] Nothing was imported\.\n$/);
  expect(await factCount()).toBe(0);

  const yes = await onTerminal(fromWorkspace(), "y\n");
  expect(yes.code).toBe(0);
  expect(yes.stdout).toMatch(/^Imported 14 for main: 14 new. .*\n$/);
  expect(yes.stderr).toMatch(
    /To undo this: helmdeck-memory forget import:openclaw-\d{4}-\d\d-\d\d-[0-9a-f]{6}\n/,
  );
  expect(await factCount()).toBe(14);
});

test("the import is what the person approved, even if the file changes meanwhile", async () => {
  writeFileSync(at("notes.md"), "- Tool: Konflux\n");
  const { code } = await runOnTerminal(["import", "--from", "markdown", at("notes.md")], {
    homeFolder: home.folder,
    typed: () => {
      writeFileSync(at("notes.md"), "- Tool: something else\n- More: of it\n");
      return "y\n";
    },
  });
  expect(code).toBe(0);
  const { facts } = JSON.parse((await piped(["list", "--json"])).stdout);
  expect(facts.map(({ value }: { readonly value: string }) => value)).toEqual(["Tool: Konflux"]);
});

// verifies P-import-newer
test.each(["newer", "keep"])(
  "the import replaces nothing that was stored after its preview: %s",
  async (rule) => {
    writeFileSync(at("notes.md"), "- Tool: Konflux\n- Team: Delft\n");
    const order = ["import", "--from", "markdown", at("notes.md"), "--on-conflict", rule];
    const dry = JSON.parse((await piped([...order, "--dry-run", "--json"])).stdout);
    const [key = ""] = dry.first.map(({ key }: { readonly key: string }) => key);
    const { code, stderr, stdout } = await runOnTerminal(order, {
      homeFolder: home.folder,
      typed: async () => {
        await piped(["store", key, "Theirs."]);
        return "y\n";
      },
    });
    expect([code, stderr]).toEqual([0, expect.stringContaining(`${key}: Tool: Konflux (new)`)]);
    expect(stdout).toMatch(/^Imported 1 for main: 1 new\. Kept as they were: 1\. /);
    expect((await piped(["get", key])).stdout).toBe("Theirs.\n");
  },
);

test("at most 64 MiB are kept in memory while a person is asked", async () => {
  writeFileSync(at("graph.jsonl"), "");
  truncateSync(at("graph.jsonl"), 65 * 1_024 * 1_024);
  const { code, stderr } = await onTerminal(["import", "--from", "server-memory", at("graph.jsonl")], "y\n");
  expect(code).toBe(1);
  expect(stderr).toMatch(/These files hold more than 64 MiB, .* --dry-run .* --yes\.\n$/);
});

test("a script needs --yes or --dry-run, and gets the id as JSON", async () => {
  const refused = await piped(fromWorkspace());
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/^invalid_input: import asks before it writes; .*--yes, or --dry-run/);
  const dry = JSON.parse((await piped([...fromWorkspace(), "--dry-run", "--json"])).stdout);
  expect(dry).toMatchObject({ dry_run: true, stored: 14, gone: 0, ends_at: expect.any(String) });
  expect(dry.first).toHaveLength(10);
  expect(JSON.stringify(dry)).not.toContain("Konflux");
  expect(await factCount()).toBe(0);
  const done = JSON.parse((await piped([...fromWorkspace(), "--yes", "--json"])).stdout);
  expect(done).toMatchObject({ stored: 14, refused_count: 0, left_out: { "front matter": 1 } });
  expect(JSON.parse((await piped(["imports", "--json"])).stdout)).toEqual({
    imports: [{ id: done.import, facts: 14, former: 0 }],
  });
  expect((await piped(["imports"])).stdout).toBe(`import:${done.import}  14 facts\n`);
  expect((await piped(["forget", `import:${done.import}`, "--yes"])).stdout).toBe(
    `Deleted 14 entries of the import ${done.import} of main.\n`,
  );
  expect(await factCount()).toBe(0);
});

test("forgetting an import shows what is restored and what stays", async () => {
  await piped(["store", "memory/deploys/production", "by hand"]);
  const { import: id } = JSON.parse((await piped([...fromWorkspace(), "--yes", "--json"])).stdout);
  const { stderr, stdout } = await onTerminal(["forget", `import:${id}`], "y\n");
  expect(stderr).toContain(
    "1 of these facts goes back to what the import replaced or superseded. Facts that were stored or edited since the import are not included and stay.\n",
  );
  expect(stderr).toContain("  memory/習慣/返事は短く: 返事は短く\n");
  expect(stdout).toContain("Deleted 14 entries");
  expect(stderr).toContain("It also stands in 4 imported files.");
  expect((await piped(["get", "memory/deploys/production"])).stdout).toBe("by hand\n");
});

test.each([
  ["a folder", "workspace"],
  ["Markdown", "other.md"],
  ["JSON", "mem0.json"],
])("the kind of %s must be given", async (_name, file) => {
  const { code, stderr } = await piped(["import", at(file)]);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /give it with --from, one of jsonl, helmdeck, openclaw, markdown, mem0, server-memory\.\n$/,
  );
});

test.each([
  ["openclaw", "workspace/memory", /has none of OpenClaw's notes .* Give the workspace folder\.\n$/],
  ["markdown", "workspace", /is a folder; give its files\.\n$/],
  ["mem0", "missing.json", /^invalid_input: Cannot read .*missing\.json: there is no such file\./],
])("--from %s of %s says what is wrong", async (from, file, message) => {
  const { code, stderr } = await piped(["import", "--from", from, at(file), "--yes"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
});

test("notes that are known by name need no --from, and --category is for notes", async () => {
  const known = await piped(["import", at("CLAUDE.md"), "--yes", "--category", "rules"]);
  expect(known.stdout).toMatch(/^Imported 4 for main: 4 new\. /);
  const { facts } = JSON.parse((await piped(["list", "--json"])).stdout);
  expect(new Set(facts.map(({ category }: { readonly category: string }) => category))).toEqual(
    new Set(["rules"]),
  );
  writeFileSync(at("facts.jsonl"), '{"key":"a","value":"one"}\n');
  const lines = await piped(["import", at("facts.jsonl"), "--category", "rules"]);
  expect([lines.code, lines.stderr]).toEqual([1, expect.stringMatching(/--category is only for notes/)]);
  const wrong = await piped(["import", at("CLAUDE.md"), "--yes", "--category", "No Category"]);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/^invalid_input: category must be /)]);
});

test("a preview shows what memory knows, and asks once what to do", async () => {
  await piped(["store", "mine", "Allergic to penicillin"]);
  await piped(["store", "standup", "The standup is at 9:30"]);
  writeFileSync(at("AGENTS.md"), "- allergic to penicillin\n- The standup is at 10:00\n");
  const order = ["import", at("AGENTS.md")];
  const { stderr, code } = await onTerminal(order, "yes\n");
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /Memory knows under another key: 1\.\n {2}\S+: allergic to penicillin\n {4}mine: Allergic to penicillin \(.+\)\n/,
  );
  expect(stderr).toMatch(
    /Contradicting what memory has: 1\.\n {2}.*10:00\n {4}standup: The standup is at 9:30 /,
  );
  expect(stderr).toMatch(/supersede the older\? \[both\/skip\/supersede\/N\] Nothing was imported/);

  const dry = await piped([...order, "--dry-run"]);
  expect(dry.stdout).toMatch(/--on-known skip leaves out .*; --on-known supersede makes/);
  const known = JSON.parse((await piped([...order, "--dry-run", "--json"])).stdout).known;
  expect(known).toEqual([
    { key: expect.stringContaining("allergic"), relation: "same", there: "mine" },
    { key: expect.stringContaining("standup"), relation: "contradict", there: "standup" },
  ]);

  const yes = await onTerminal(order, "supersede\n");
  expect(yes.stdout).toMatch(/^Imported 2 for main: 2 new\. Superseded: 2\. Refused: 0\.\n$/);
  expect(await factCount()).toBe(2);
  const id = /import:\S+/.exec(yes.stderr)?.[0] ?? "";
  const back = await piped(["forget", id, "--yes"]);
  expect(back.stderr).toContain("2 of these facts went back to what the import replaced or superseded.");
  expect((await piped(["get", "mine"])).stdout).toBe("Allergic to penicillin\n");
  expect(await factCount()).toBe(2);

  const skipped = await piped([...order, "--yes", "--on-known", "skip"]);
  expect(skipped.stdout).toContain(
    "Imported 0 for main: nothing new. " +
      "Left out: known under another key, contradicting what memory has. Refused: 0.",
  );
});

test("--show-all shows the whole preview", async () => {
  const all = await piped([...fromWorkspace(), "--dry-run", "--show-all"]);
  expect(all.stdout.match(/ \(new\)$/gm)).toHaveLength(14);
  expect(all.stdout).not.toContain("more.");
  const json = await piped([...fromWorkspace(), "--dry-run", "--show-all", "--json"]);
  expect(JSON.parse(json.stdout).first).toHaveLength(14);
});

test("--ttl sets when notes expire, and JSON Lines need no confirmation", async () => {
  writeFileSync(at("facts.jsonl"), '{"key":"a","value":"one"}\n');
  expect(await piped(["import", at("facts.jsonl"), "--dry-run"])).toMatchObject({ code: 0 });
  expect(await factCount()).toBe(0);
  expect(await piped(["import", at("facts.jsonl"), "--ttl", "3d"])).toMatchObject({ code: 0 });
  expect((await piped(["list"])).stdout).toContain("expires in 3 days");
  const dry = await piped(["import", "--from", "markdown", at("CLAUDE.md"), "--ttl", "3d", "--dry-run"]);
  expect(dry.stdout).toContain("(in 3 days)");
});

test("an export as Markdown can be imported elsewhere as the same facts", async () => {
  await piped([...fromWorkspace(), "--yes"]);
  const file = at("memory.md");
  expect(await piped(["export", "--to", "markdown", "--output", file])).toMatchObject({ code: 0 });
  expect(await piped(["import", "--from", "markdown", file, "--yes", "--caller", "work"])).toMatchObject({
    code: 0,
  });
  const list = async (caller: string) => {
    const { facts } = JSON.parse((await piped(["list", "--json", "--caller", caller])).stdout);
    const ofAnyStore = (name: string, value: unknown) =>
      name === "writer" || name === "revision" ? undefined : value;
    return facts.map((fact: object) => JSON.stringify(fact, ofAnyStore)).sort();
  };
  expect(await list("work")).toEqual(await list("main"));
  await piped(["store", "memory/deploys/production", "by hand"]);
  const left = await piped(["export", "--to", "markdown", "--output", at("second.md"), "--json"]);
  expect(JSON.parse(left.stdout)).toMatchObject({ left_out: { runs: 0, former: 1 } });
  expect((await piped(["export", "--to", "markdown"])).stderr).toMatch(
    /in plain text\.\nNot exported: 1 former value\. --to jsonl --with-history exports everything\.\n$/,
  );
  const both = await piped(["export", "--to", "markdown", "--with-history"]);
  expect(both).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--with-history needs --to jsonl."),
  });
});
