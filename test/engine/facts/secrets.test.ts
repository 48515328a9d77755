import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type HelmdeckError, isHelmdeckError } from "../../../engine/errors.ts";
import { refuseSecrets } from "../../../engine/facts/secrets.ts";
import { CREDENTIALS, HARMLESS } from "./credentials.ts";

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
  category?: string;
  tags?: string[];
}): Promise<HelmdeckError | undefined> {
  try {
    await refuseSecrets({ key: "deploy", value: "Konflux", category: "ci", tags: [], ...written });
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

  test.each(CREDENTIALS)(
    "%s is refused between other words, in any line, and never repeated",
    async (_, text) => {
      for (const value of [
        `For the release: ${text}`,
        `Since May we use this.\n${text}\nAsk Ana about it.`,
      ]) {
        const refusal = await refusalOf({ value });
        expect(refusal?.details).toEqual({ field: "value", kind: expect.stringMatching(/^\w{3,40}$/) });
        expect(refusal?.message).toMatch(/^value looks like a credential \(\w+\)\. Memory does not/);
      }
    },
  );

  test.each<readonly [string, (text: string) => string]>([
    ["as a JSON string", (text) => JSON.stringify({ note: text })],
    ["in quotes", (text) => `It is "${text}", as agreed.`],
    ["in parentheses", (text) => `The new one (${text}) is better.`],
    ["as code", (text) => `Use \`${text}\` from now on.`],
    ["in a table", (text) => `| name | ${text} |`],
    ["quoted", (text) => text.replaceAll(/^/gm, "> ")],
    ["with Windows line ends", (text) => text.replaceAll("\n", "\r\n")],
    ["after a script without spaces", (text) => `密码是${text}。`],
    ["behind a hidden character", (text) => `${text.slice(0, 3)}\u200b${text.slice(3)}`],
  ])("is refused %s", async (_how, within) => {
    const accepted: string[] = [];
    for (const [what, text] of CREDENTIALS)
      if ((await refusalOf({ value: within(text) })) === undefined) accepted.push(what);
    expect(accepted).toEqual([]);
  });

  const [, token] = SECRETS[0];

  test.each([
    ["key", { key: `token/${token}` }],
    ["tags", { tags: ["ci", token] }],
    ["category", { category: `glpat-${"a1b2c3d4e5".repeat(2)}` }],
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

test.each(HARMLESS)("an ordinary fact is accepted: %s", async (value) => {
  expect(await refusalOf({ value })).toBeUndefined();
  expect(await refusalOf({ value: `To keep in mind:\n${value}\nThat is all.` })).toBeUndefined();
});

test.each(globSync("test/data/*.jsonl"))("no line of %s is refused", async (file) => {
  const lines = readFileSync(file, "utf8").split("\n");
  for (const line of lines) expect(await refusalOf({ value: line })).toBeUndefined();
});

test("a long text of near misses is scanned quickly", async () => {
  const started = performance.now();
  const pieces = [
    "a://",
    "x:y@",
    "xoxb-",
    "-----BEGIN ",
    "postgres://a:",
    "https://a:",
    " ",
    "a",
    "sk-a-",
    "M.",
  ];
  const named = ["password: ", "--a-", "login a ", "eyJa.", "token=a/", "-----BEGIN PRIVATE KEY-----"];
  for (const piece of [...pieces, ...named]) await refusalOf({ value: piece.repeat(65_536 / piece.length) });
  expect(performance.now() - started).toBeLessThan(5_000);
});
