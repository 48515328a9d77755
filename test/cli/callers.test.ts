/** One caller's commands never show, change or delete what another caller has. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandHome } from "./command.ts";
import { runPiped } from "./terminal.ts";

const home = new CommandHome();
afterAll(() => home.remove());

function run(args: readonly string[], typed = "") {
  return runPiped(args, { homeFolder: home.folder, typed });
}

const SECRET = "azalea-cobalt-heron";

beforeAll(async () => {
  await run([
    "store",
    "plan",
    `The plan of alice is ${SECRET}`,
    "--category",
    "alice_only",
    "--caller",
    "alice",
  ]);
  const audit = {
    audit: "pack",
    pack: "alice.pack",
    outcome: "ok",
    at_unix: 1_700_000_000,
  };
  await run(["import", "-", "--caller", "alice"], JSON.stringify(audit));
});

// Names made to collide with "alice" if namespaces were joined, trimmed, folded or matched by pattern.
const OTHERS = [
  "bob",
  "main",
  "Alice",
  "alice ",
  " alice",
  "alice:",
  "alice:1",
  "alice%",
  "%",
  "al_ce",
  "a*",
  "alic",
  "alice2",
  "alice/",
  "unknown",
];

// verifies P-alone-subjects
describe.each(OTHERS)("the caller %j", (other) => {
  test("sees nothing of alice's, in any command", async () => {
    const reads = [
      ["get", "plan"],
      ["list"],
      ["list", "plan"],
      ["list", "--category", "alice_only"],
      ["search", "plan", "alice"],
      ["search", SECRET],
      ["export"],
      ["forget", "everything", "--dry-run"],
    ];
    for (const read of reads) {
      for (const json of [[], ["--json"]]) {
        const { stdout } = await run([...read, ...json, "--caller", other]);
        expect(stdout).not.toContain(SECRET);
        expect(stdout).not.toContain("alice.pack");
        expect(stdout).not.toContain("alice_only");
      }
    }
    const { deleted } = JSON.parse(
      (await run(["forget", "everything", "--dry-run", "--json", "--caller", other])).stdout,
    );
    expect(deleted).toBe(0);
  });

  test("deletes and replaces nothing of alice's", async () => {
    await run(["store", "plan", "mine", "--caller", other]);
    for (const scope of ["key:plan", "category:alice_only", "packs", "all", "everything"]) {
      await run(["forget", scope, "--yes", "--caller", other]);
    }
    expect((await run(["get", "plan", "--caller", "alice"])).stdout).toContain(SECRET);
  });
});

test("alice still has both of hers", async () => {
  const { stdout } = await run(["export", "--caller", "alice"]);
  expect(stdout).toContain(SECRET);
  expect(stdout).toContain("alice.pack");
});

test("the default caller is main", async () => {
  await run(["store", "default", "x"]);
  expect(await run(["get", "default", "--caller", "main"])).toMatchObject({ code: 0 });
});
