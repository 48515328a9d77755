/** One token for each agent, from a file or a reference, never from the configuration itself. */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { makeTokenSource } from "../../plugin/engine-tokens.ts";
import type { Secret } from "../../plugin/resolve-secret.ts";
import { tempFolder } from "../app/fixtures/memories.ts";

const REFERENCE = { source: "exec", provider: "vault", id: "helmdeck/main" };

let folder: string;
let now: number;
let secrets: Secret[];
let asked: unknown[];
beforeEach(async () => {
  folder = await tempFolder();
  now = 0;
  secrets = [];
  asked = [];
});

function sourceOf(tokens: Readonly<Record<string, unknown>>) {
  const resolve = async (given: unknown): Promise<Secret> => {
    asked.push(given);
    return secrets.shift() ?? { kind: "unreadable", name: "the secret exec:vault:helmdeck/main" };
  };
  return makeTokenSource({ tokens: new Map(Object.entries(tokens)), resolve, clock: () => now });
}

const FIRST = { refused: false };
const REFUSED = { refused: true };

async function fileWith(text: string, mode = 0o600): Promise<string> {
  const path = join(folder, "token");
  await writeFile(path, text);
  await chmod(path, mode);
  return path;
}

describe("a token in a file", () => {
  test("is used at once after the file changes", async () => {
    const tokenOf = sourceOf({ main: { file: await fileWith("one\n") } });
    expect(await tokenOf("main", FIRST)).toBe("one");
    await fileWith("two");
    expect(await tokenOf("main", FIRST)).toBe("two");
  });

  test.each([
    ["that others can read", 0o644, /chmod 600/],
    ["that is missing", undefined, /cannot be opened/],
  ])("%s is refused, with the reason", async (_what, mode, says) => {
    const file = mode === undefined ? join(folder, "none") : await fileWith("canary", mode);
    const asking = sourceOf({ main: { file } })("main", FIRST);
    await expect(asking).rejects.toMatchObject({
      code: "invalid_token",
      message: expect.stringMatching(says),
    });
    await expect(asking).rejects.not.toMatchObject({ message: expect.stringContaining("canary") });
  });
});

describe("a token behind a reference", () => {
  test("is resolved once, and again after a refusal, but not for each request", async () => {
    const tokenOf = sourceOf({ main: REFERENCE });
    secrets = [
      { kind: "text", text: "old" },
      { kind: "text", text: "new" },
    ];
    expect(await tokenOf("main", FIRST)).toBe("old");
    expect(await tokenOf("main", REFUSED)).toBe("old");
    now = 10_000;
    expect(await tokenOf("main", FIRST)).toBe("old");
    expect(await tokenOf("main", REFUSED)).toBe("new");
    expect(await tokenOf("main", REFUSED)).toBe("new");
    expect(asked).toHaveLength(2);
    expect(asked[0]).toEqual({
      value: REFERENCE,
      path: "plugins.entries.helmdeck-memory.config.source.tokens.main",
    });
  });

  test("that cannot be resolved is named, and resolved again later", async () => {
    const tokenOf = sourceOf({ main: REFERENCE });
    await expect(tokenOf("main", FIRST)).rejects.toMatchObject({
      code: "invalid_token",
      message: expect.stringContaining("exec:vault:helmdeck/main"),
    });
    secrets = [{ kind: "text", text: "back" }];
    expect(await tokenOf("main", FIRST)).toBe("back");
  });
});

// verifies P-engine-token
describe("an agent without a usable token", () => {
  test("gets no token, and never another agent's", async () => {
    const tokenOf = sourceOf({ main: { file: await fileWith("of-main") } });
    await expect(tokenOf("other", FIRST)).rejects.toMatchObject({ code: "identity_refused" });
  });

  test.each(["canary.literal.token", 7, null, []])(
    "a literal (%j) is not used and not shown",
    async (given) => {
      const asking = sourceOf({ main: given })("main", FIRST);
      await expect(asking).rejects.toMatchObject({ message: expect.not.stringContaining("canary") });
      expect(asked.filter((one) => JSON.stringify(one).includes("canary"))).toEqual([]);
    },
  );
});
