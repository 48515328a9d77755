/** The values that `store` keeps and the messages that it prints: from an argument, standard input and a file. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { InProcessHome } from "./in-process.ts";
import { runPiped } from "./terminal.ts";

const home = InProcessHome.forEachTest();

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const DAY = 86_400_000;

const json = (...args: readonly string[]) => home.json(...args);

describe("store", () => {
  test("says what was stored, for whom, and until when", async () => {
    const { code, stdout, stderr } = await home.run(["store", "deploy/konflux", "We deploy through Konflux"]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Stored deploy\/konflux \(user_facts\) for main\. It expires in 90 days, on \d{4}-\d\d-\d\d \d\d:\d\d\.\n$/,
    );
  });

  test("refuses what looks like a credential, unless a person overrides it", async () => {
    const fact = ["ci/token", `ghp_${"aB3dE5gH7jK9".repeat(3)}`];
    const { code, stderr } = await home.run(["store", ...fact]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^secret_refused: value .*GITHUB_TOKEN/),
    });
    expect(stderr).not.toContain("aB3dE5gH7jK9");
    expect((await home.run(["get", "ci/token"])).code).toBe(1);
    expect((await home.run(["store", "--allow-secret", ...fact])).code).toBe(0);
    expect((await home.run(["get", "ci/token"])).stdout).toContain(fact[1]);
  });

  test.each([["store", "k", "--value-file"], ["import"]])(
    "from a named pipe that nobody writes to is refused at once: %s",
    async (...command) => {
      await promisify(execFile)("mkfifo", [home.path("pipe")]);
      const refused = await home.run([...command, home.path("pipe")]);
      const stderr = expect.stringContaining("is not a regular file; give -");
      expect(refused).toMatchObject({ code: 1, stderr });
    },
  );

  test.each([
    [
      "the same value was already stored",
      "By hand",
      /^Refreshed k \(user_facts\) for main: it has had this value/,
    ],
    ["it replaced another value", "Konflux", /^Stored k \(user_facts\) for main, replacing the value of /],
  ])("reports that %s", async (_what, value, told) => {
    await home.run(["store", "k", "By hand"]);
    expect((await home.run(["store", "k", value])).stdout).toMatch(told);
  });

  test("answers a script with key, category, path and expiry, by the options given", async () => {
    const before = Date.now();
    const options = "--category team --tag docs --tag release --ttl 30d".split(" ");
    const stored = await json("store", "team/release", "The docs team reviews", ...options);
    expect(stored).toEqual({
      key: "team/release",
      category: "team",
      path: "helmdeck/team/team/release.md",
      expires_at: expect.stringMatching(RFC3339),
      revision: expect.any(Number),
    });
    const { expires_at } = stored as { expires_at: string }; // checked above
    expect(Date.parse(expires_at) - before).toBeGreaterThanOrEqual(30 * DAY);
    expect(Date.parse(expires_at) - before).toBeLessThan(30 * DAY + 60_000);
    expect(await json("get", "team/release")).toMatchObject({ tags: ["docs", "release"], category: "team" });
  });

  test("reports a replacement to a script", async () => {
    await home.run(["store", "team/release", "The docs team reviews"]);
    const again = () => json("store", "team/release", "The docs team decides", "--category", "team");
    const updated_at = expect.stringMatching(RFC3339);
    expect(await again()).toMatchObject({ replaced: { updated_at, refreshed: false } });
    expect(await again()).toMatchObject({ replaced: { refreshed: true } });
  });

  test("reads the value from standard input, and trims it", async () => {
    const stored = await home.run(["store", "from/stdin", "-"], { input: "\n  two\nlines \n\n" });
    expect(stored).toMatchObject({ code: 0, stderr: "" });
    expect(await json("get", "from/stdin")).toMatchObject({ value: "two\nlines" });
  });

  test("reads the value from a file", async () => {
    await home.write("value.txt", "Kept in a file");
    expect(await home.run(["store", "from/file", "--value-file", "value.txt"])).toMatchObject({ code: 0 });
    expect(await json("get", "from/file")).toMatchObject({ value: "Kept in a file" });
  });

  test("hides expired facts, and keeps them on disk for a day of use in case the clock is wrong", async () => {
    const twoHoursAgo = () => Date.now() - 7_200_000;
    await runPiped(["store", "short", "lived", "--ttl", "1h"], { homeFolder: home.folder, now: twoHoursAgo });
    expect(await json("doctor")).toMatchObject({ store: { entries: 0, expired: 1 } });
    await home.run(["store", "next", "one"]);
    expect(await home.run(["get", "short"])).toMatchObject({ code: 1 });
    expect(await json("doctor")).toMatchObject({ store: { entries: 1, expired: 1 } });
  });

  test("accepts a value that begins with a dash after --", async () => {
    expect(await home.run(["store", "--", "dash", "-v is for verbose"])).toMatchObject({ code: 0 });
    expect((await home.run(["get", "dash"])).stdout).toBe("-v is for verbose\n");
  });

  test("keeps exactly 64 KiB, from an argument or from standard input", async () => {
    const value = "ä".repeat(32 * 1024);
    expect(await home.run(["store", "big", "-"], { input: `${value}\n` })).toMatchObject({ code: 0 });
    expect(await json("get", "big")).toMatchObject({ value });
  });
});
