/** A running helmdeck as the source: which token is sent to which address. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type HelmdeckSourceConfig, parseConfig } from "../../plugin/config.ts";
import { openHelmdeckSource } from "../../plugin/helmdeck-source.ts";
import { helmdeckTokens } from "../../plugin/helmdeck-tokens.ts";
import type { HostConfig } from "../../plugin/openclaw-api.ts";
import { tempFolder } from "../app/fixtures/memories.ts";

const ADDRESS = "http://127.0.0.1:3000";
const ASKED = { refused: false } as const;

let folder: string;
let entry: unknown;
beforeEach(async () => {
  folder = await tempFolder();
  entry = { url: `${ADDRESS}/api/v1/mcp/sse`, headers: { authorization: "Bearer entry.token.x" } };
});

function sourceOf(given: object = {}): HelmdeckSourceConfig {
  const { source } = parseConfig({ source: { kind: "helmdeck", url: ADDRESS, ...given } });
  if (source.kind !== "helmdeck") throw new Error("another source");
  return source;
}

function tokensOf(given: object = {}) {
  // Entries that the host's schema accepts, and others.
  const config = () => ({ mcp: { servers: { helmdeck: entry } } }) as HostConfig;
  return helmdeckTokens(sourceOf(given), config);
}

// verifies P-helmdeck-token
describe("the token of OpenClaw's entry for helmdeck", () => {
  test("is used only for main, and is read for each request", async () => {
    const { agents, tokenOf } = tokensOf();
    expect(agents).toEqual(["main"]);
    expect(await tokenOf("main", ASKED)).toBe("entry.token.x");
    entry = { url: ADDRESS, headers: { Authorization: "bearer renewed.token.y" } };
    expect(await tokenOf("main", ASKED)).toBe("renewed.token.y");
  });

  test("is overridden by main's own token", async () => {
    const file = join(folder, "main.token");
    await writeFile(file, "own.token.z\n", { mode: 0o600 });
    const { agents, tokenOf } = tokensOf({ tokens: { Main: { file } } });
    expect(agents).toEqual(["main"]);
    expect(await tokenOf("main", ASKED)).toBe("own.token.z");
  });

  test("is not used for another agent", async () => {
    const { tokenOf } = tokensOf();
    await expect(tokenOf("work", ASKED)).rejects.toMatchObject({ code: "identity_refused" });
  });

  test.each([
    ["another address", { url: "http://127.0.0.1:3001/sse", headers: { authorization: "Bearer a.b.c" } }],
    ["another scheme", { url: "https://127.0.0.1:3000/sse", headers: { authorization: "Bearer a.b.c" } }],
    ["no address", { headers: { authorization: "Bearer a.b.c" } }],
  ])("of %s is not sent", async (_what, given) => {
    entry = given;
    await expect(tokensOf().tokenOf("main", ASKED)).rejects.toMatchObject({
      code: "invalid_token",
      message: expect.stringContaining("is for another address"),
    });
  });

  test.each([
    ["an entry", undefined, "there is no mcp.servers.helmdeck"],
    ["a header", { url: ADDRESS }, "no readable bearer token"],
    ["a bearer", { url: ADDRESS, headers: { authorization: "Basic canary" } }, "no readable bearer token"],
  ])("without %s is reported in one line", async (_what, given, line) => {
    entry = given;
    const failure = tokensOf().tokenOf("main", ASKED);
    await expect(failure).rejects.toMatchObject({
      code: "invalid_token",
      message: expect.stringContaining(line),
    });
    await expect(failure).rejects.not.toMatchObject({ message: expect.stringContaining("canary") });
  });
});

// verifies P-helmdeck-token
test("plain HTTP to another machine is refused before any request", () => {
  const open = () => openHelmdeckSource(sourceOf({ url: "http://192.0.2.7:3000" }), "balanced", () => ({}));
  expect(open).toThrow(/must begin with https:/);
});
