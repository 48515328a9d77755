/** Doctor's findings about an engine and each token. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mintToken } from "../../../../server/tokens.ts";
import { NOW, SECRET, tokenFor } from "../../../server/fixtures/context-server.ts";
import { OddServer, remoteOf, ServedEngine } from "./served-engine.ts";

let engine: ServedEngine;
beforeAll(async () => {
  engine = await ServedEngine.open();
});
afterAll(() => engine.close());

async function findingsFor(tokens: Readonly<Record<string, string>>, url = engine.url) {
  const tokenOf = async (agent: string) => tokens[agent] ?? "";
  const remote = remoteOf(url, { tokenOf, agents: Object.keys(tokens) });
  const { findings } = await remote.doctor();
  await remote.close();
  return findings;
}

const aYear = (subject: string, scopes: readonly string[]) =>
  mintToken(SECRET, { subject, scopes, ttlSeconds: 365 * 86_400 }, NOW).then(({ token }) => token);

describe("doctor", () => {
  it("reports the engine, the connection and each agent's subject, without a warning", async () => {
    const findings = await findingsFor({
      main: await aYear("main", ["record"]),
      work: await aYear("alice", ["record"]),
    });
    expect(findings).toEqual([
      {
        level: "ok",
        check: "memory source",
        message: expect.stringMatching(/version .*; a request took \d+ ms/),
      },
      { level: "ok", check: "connection to the engine", message: expect.stringContaining("plain HTTP") },
      { level: "ok", check: "agent main", message: expect.stringContaining("the memory of main") },
      { level: "ok", check: "agent work", message: expect.stringContaining("the memory of alice") },
    ]);
  });

  it.each([
    [
      "the scope admin",
      () => aYear("main", ["admin", "record"]),
      "scope admin",
      "helmdeck-memory token --subject main --scope record",
    ],
    ["no scope record", () => aYear("main", []), "not recorded", "--scope record"],
    ["a near expiry", () => tokenFor("main", ["record"]), "expires on 2026-11-20", "the same file"],
    [
      "a subject that needs quoting",
      () => aYear("it's me", []),
      "not recorded",
      String.raw`--subject 'it'\''s me'`,
    ],
  ])("warns of a token with %s, and names a remedy", async (_what, token, says, remedy) => {
    const warnings = (await findingsFor({ main: await token() })).filter(({ level }) => level === "warning");
    expect(warnings).toEqual([
      expect.objectContaining({
        check: "agent main",
        message: expect.stringContaining(says),
        remedy: expect.stringContaining(remedy),
      }),
    ]);
  });

  it("warns of two agents that share a memory", async () => {
    const findings = await findingsFor({
      main: await aYear("main", ["record"]),
      work: await aYear("main", ["record"]),
    });
    expect(findings).toContainEqual(
      expect.objectContaining({ level: "warning", message: expect.stringContaining("main, work") }),
    );
  });

  it("names a rejected token, and checks the others", async () => {
    const findings = await findingsFor({ main: await aYear("main", ["record"]), work: "no.such.token" });
    expect(findings).toContainEqual(expect.objectContaining({ level: "ok", check: "agent main" }));
    expect(findings).toContainEqual(
      expect.objectContaining({
        level: "error",
        check: "agent work",
        message: expect.stringContaining("invalid_token"),
      }),
    );
  });

  it("reports an engine that does not work, whatever its response", async () => {
    const server = await OddServer.json(503, {
      status: "unavailable",
      memory: "unavailable",
      error: "key_wrong",
    });
    const findings = await findingsFor({ main: "a.b.c" }, server.url);
    await server.close();
    expect(findings[0]).toMatchObject({
      level: "error",
      check: "memory source",
      message: expect.stringContaining("its memory does not work (key_wrong)"),
    });
  });

  it("warns of an engine that requires no token", async () => {
    const server = await OddServer.answering((request, response) => {
      const answers: Readonly<Record<string, unknown>> = {
        "/readyz": { status: "ready", memory: "ready" },
        "/version": { version: "1" },
        "/api/v1/caller": { subject: "unknown", authenticated: false, scopes: [] },
      };
      response.end(JSON.stringify(answers[request.url ?? ""]));
    });
    const findings = await findingsFor({ main: "a.b.c" }, server.url);
    await server.close();
    expect(findings).toContainEqual(
      expect.objectContaining({ level: "warning", message: expect.stringContaining("requires no token") }),
    );
  });
});
