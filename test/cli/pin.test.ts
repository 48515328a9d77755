/** pin, unpin, and what lists say of pinned facts and of what ends soon. */
import { beforeAll, expect, test } from "vitest";
import { InProcessHome } from "./in-process.ts";

const home = InProcessHome.forAllTests();

beforeAll(async () => {
  for (const key of ["allergies", "deploy/konflux"])
    expect(await home.run(["store", key, `The value of ${key}`])).toMatchObject({ code: 0 });
});

test("pin and unpin say until when; lists begin with what is pinned", async () => {
  const pinned = await home.run(["pin", "allergies"]);
  expect(pinned).toMatchObject({ code: 0, stderr: "" });
  expect(pinned.stdout).toMatch(
    /^Pinned allergies: it stands in every prompt of its agent until \d{4}-\d\d-\d\d\. Then, or before, helmdeck-memory pin allergies keeps it another year\.\n$/,
  );
  const { stdout } = await home.run(["list"]);
  expect(stdout.split("\n")[0]).toMatch(/^allergies {2}\(pinned, user_facts, /);
  expect(JSON.parse((await home.run(["list", "--pinned", "--json"])).stdout)).toMatchObject({
    facts: [{ key: "allergies", pinned: true, tags: [] }],
  });
  expect(JSON.parse((await home.run(["pin", "allergies", "--json"])).stdout)).toMatchObject({ pinned: true });
  const unpinned = await home.run(["unpin", "allergies"]);
  expect(unpinned.stdout).toMatch(/^Unpinned allergies\. It is kept until \d{4}-\d\d-\d\d\.\n$/);
  expect((await home.run(["list", "--pinned"])).stderr).toContain("No fact in the memory of main is pinned.");
});

test("a refusal names the limit, and a missing fact is not found", async () => {
  await home.run(["store", "long", "-"], { input: "x".repeat(2_000) });
  const refused = await home.run(["pin", "long"]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toMatch(/about 300 tokens, .*unpin one that matters less/);
  expect((await home.run(["unpin", "none", "--json"])).stderr).toContain("not_found");
});

test("a list says what expires soon, and how to keep it", async () => {
  await home.run(["store", "soon", "x", "--ttl", "2d"]);
  await home.run(["pin", "allergies"]);
  await home.run(["renew", "allergies", "--ttl", "3d"]);
  expect((await home.run(["list", "deploy/"])).stderr).toBe(
    "Expiring within 14 days: 2 facts: allergies (pinned), soon. helmdeck-memory pin allergies keeps it another year. helmdeck-memory renew <key> keeps a fact.\n",
  );
});

test("renew --expiring and --all say how many facts, and how to undo that", async () => {
  const would = await home.run(["renew", "--expiring", "--dry-run"]);
  expect(would).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Would renew 2 facts until \d{4}-/),
    stderr: "",
  });
  expect(await home.run(["renew", "--expiring"])).toMatchObject({
    stdout: expect.stringMatching(/^Renewed 2 facts until \d{4}-\d\d-\d\d\.\n$/),
    stderr: "To undo this: helmdeck-memory renew --undo\n",
  });
  expect((await home.run(["renew", "--expiring"])).stdout).toMatch(/^No fact that expires within 14 days/);
  expect((await home.run(["renew", "--undo"])).stdout).toMatch(
    /^2 facts got the former end back: the first ends on /,
  );
  expect(JSON.parse((await home.run(["renew", "--all", "--json"])).stdout)).toMatchObject({
    renewed: 2,
    which: "all",
  });
  for (const wrong of [[], ["allergies", "--all"], ["--all", "--expiring"], ["--all", "--ttl", "3d"]])
    expect((await home.run(["renew", ...wrong])).code).toBe(2);
});
