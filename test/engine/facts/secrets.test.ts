import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type HelmdeckError, isHelmdeckError, refuseSecrets } from "../../../engine/index.ts";

/** Made-up credentials, assembled here, so that secret scanners do not report this file. */
const LETTERS = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8z";
const SECRETS = [
  ["GITHUB_TOKEN", `ghp_${LETTERS}${LETTERS.slice(0, 8)}`],
  ["SLACK_TOKEN", `xoxb-${"1".repeat(12)}-${"2".repeat(13)}-${LETTERS.slice(0, 24)}`],
  ["ANTHROPIC_API_KEY", `sk-ant-api03-${"a".repeat(93)}AA`],
  ["PostgreSQLConnection", ["postgres://bob", "s3cretpw@db.internal:5432/app"].join(":")],
  ["BasicAuth", ["https://bob", "s3cretpw@wiki.example.com/home"].join(":")],
  ["NPM_ACCESS_TOKEN", `npm_${LETTERS}${LETTERS.slice(0, 8)}`],
  [
    "PrivateKey",
    ["", "BEGIN RSA PRIVATE KEY", `\nMII${LETTERS.repeat(30)}\n`, "END RSA PRIVATE KEY", ""].join("-----"),
  ],
] as const;

async function refusalOf(written: {
  key?: string;
  value?: string;
  tags?: string[];
}): Promise<HelmdeckError | undefined> {
  try {
    await refuseSecrets({ key: "deploy", value: "Konflux", tags: [], ...written });
    return undefined;
  } catch (error) {
    if (isHelmdeckError(error, "secret_refused")) return error;
    throw error;
  }
}

// verifies P-policy-secrets
describe("a text that looks like a credential", () => {
  test.each(SECRETS)("%s is refused by its kind, and never repeated", async (kind, secret) => {
    const refusal = await refusalOf({ value: `For the release we use ${secret} since May.` });
    expect(refusal?.details).toEqual({ field: "value", kind });
    expect(refusal?.message).toContain(`(${kind})`);
    expect(JSON.stringify([refusal, refusal?.message, refusal?.stack])).not.toContain(secret.slice(8, 24));
  });

  const [, token] = SECRETS[0];

  test.each([
    ["key", { key: `token/${token}` }],
    ["tags", { tags: ["ci", token] }],
  ])("is refused in the %s too", async (field, written) => {
    expect((await refusalOf(written))?.details.field).toBe(field);
  });

  test("is recognised by its name even if the text alone is inconspicuous", async () => {
    const value = `${LETTERS}${LETTERS}`.slice(0, 40);
    expect(await refusalOf({ value })).toBeUndefined();
    expect((await refusalOf({ key: "aws_secret_access_key", value }))?.details.field).toBe("value");
  });

  test.each(["secretlint-disable", "/* secretlint-disable */", "<!-- secretlint-disable-line -->"])(
    "is not allowed by the comment %s",
    async (comment) => {
      expect(await refusalOf({ value: `${comment}\n${comment} ${token} ${comment}` })).toBeDefined();
    },
  );
});

test.each([
  "We deploy through Konflux, never by hand.",
  "The API token is in the vault under team/konflux, and is renewed each May.",
  "My password manager is KeePassXC.",
  "https://wiki.internal/home?user=bob",
  "Commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904 broke the build.",
  "6f1ed002-ab5b-41f5-9d3c-0a3f2b7f0c11",
  "mem_0123456789abcdef0123456789abcdef",
])("an ordinary fact is accepted: %s", async (value) => {
  expect(await refusalOf({ value })).toBeUndefined();
});

test.each(globSync("test/data/*.jsonl"))("no line of %s is refused", async (file) => {
  const lines = readFileSync(file, "utf8").split("\n");
  for (const line of lines) expect(await refusalOf({ value: line })).toBeUndefined();
});

test("a long text of near misses is scanned quickly", async () => {
  const started = performance.now();
  for (const piece of ["a://", "x:y@", "xoxb-", "-----BEGIN ", "postgres://a:", "https://a:", " "])
    await refusalOf({ value: piece.repeat(65_536 / piece.length) });
  expect(performance.now() - started).toBeLessThan(5_000);
});
