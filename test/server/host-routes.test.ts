/** The routes for a host's plugin. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ContextServer, SECRET, tokenFor } from "./fixtures/context-server.ts";

let served: ContextServer;
let alice: ReturnType<ContextServer["as"]>;
let bob: ReturnType<ContextServer["as"]>;
let recorder: ReturnType<ContextServer["as"]>;

const FACT = { key: "deploy/preference", value: "We deploy through Konflux.\nNever by hand." };
const PATH = "helmdeck/user_facts/deploy/preference.md";
const TOOL_RUN = { kind: "tool", tool: "exec", outcome: "ok", at_unix: 1_795_000_000, duration_ms: 12 };

beforeEach(async () => {
  served = await ContextServer.open({ secret: SECRET });
  alice = served.as(await tokenFor("alice"));
  bob = served.as(await tokenFor("bob"));
  recorder = served.as(await tokenFor("alice", ["record"]));
  await alice.post("/api/v1/memory/store", FACT);
});
afterEach(() => served.close());

describe("the caller", () => {
  it("gets the token's subject, scopes and expiry", async () => {
    expect((await recorder.get("/api/v1/caller")).body).toEqual({
      subject: "alice",
      authenticated: true,
      scopes: ["record"],
      expires_at: "2026-11-20T13:00:00.000Z",
    });
  });

  it("is unknown and not authenticated if the server requires no token", async () => {
    const open = await ContextServer.open();
    expect((await open.as().get("/api/v1/caller")).body).toEqual({
      subject: "unknown",
      authenticated: false,
      scopes: [],
    });
    await open.close();
  });
});

describe("search", () => {
  it("returns ranked hits with their lines, only to their owner", async () => {
    const query = { query: "how do we deploy" };
    const { status, body } = await alice.post("/api/v1/memory/search", query);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      results: [{ kind: "fact", path: PATH, key: FACT.key, start_line: 3, writer: { surface: "rest" } }],
      mode: "keyword",
    });
    expect((await bob.post("/api/v1/memory/search", query)).body).toEqual({
      results: [],
      mode: "keyword",
      unmatched: { facts: 0, audit_rows: 0 },
    });
  });

  it("name the hits that contradict each other, in a search and in the corpus", async () => {
    await alice.post("/api/v1/memory/store", { key: "standup", value: "The standup is at 9:30" });
    const again = await alice.post("/api/v1/memory/store", { key: "daily", value: "standup moved to 10:00" });
    expect(again.body.similar).toMatchObject([{ key: "standup", contradicts: true }]);
    const { body } = await alice.post("/api/v1/memory/search", { query: "when is the standup" });
    expect(body.results).toMatchObject([
      { conflicts_with: [{ key: expect.any(String), updated_at: expect.any(String) }] },
      { conflicts_with: [{ key: expect.any(String), updated_at: expect.any(String) }] },
    ]);
    const { body: corpus } = await alice.get("/api/v1/memory/corpus?query=when+is+the+standup");
    const conflicting = { metadata: { conflicts_with: [expect.any(String)] } };
    expect(corpus.chunks).toMatchObject([conflicting, conflicting]);
  });

  it("explains hits on request", async () => {
    const { body } = await alice.post("/api/v1/memory/search", { query: "deploy", explain: true });
    expect(body).toMatchObject({ results: [{ parts: expect.any(Object) }] });
  });

  it("refuses a misspelt field", async () => {
    const { status, body } = await alice.post("/api/v1/memory/search", { query: "a", limmit: 1 });
    expect([status, body.error]).toEqual([400, "invalid_input"]);
  });
});

describe("a document", () => {
  it("is read by lines, and names its entry", async () => {
    const asked = { path: PATH, from_line: 3, line_count: 1 };
    expect((await alice.post("/api/v1/memory/document", asked)).body).toMatchObject({
      path: PATH,
      content: "We deploy through Konflux.",
      from_line: 3,
      line_count: 1,
      truncated: true,
      entry: { kind: "fact", key: FACT.key, category: "user_facts", created_at: expect.any(String) },
    });
  });

  it.each([
    ["another caller's", () => bob, PATH],
    ["a missing one", () => alice, "helmdeck/user_facts/none.md"],
    ["a path outside memory", () => alice, "/etc/passwd"],
  ])("%s is not found", async (_what, who, path) => {
    const { status, body } = await who().post("/api/v1/memory/document", { path });
    expect([status, body.error]).toEqual([404, "not_found"]);
  });
});

describe("a record of a tool run", () => {
  it("is accepted from a caller with the scope record, into its own memory", async () => {
    expect(await recorder.post("/api/v1/memory/runs", TOOL_RUN)).toMatchObject({
      status: 200,
      body: { recorded: true },
    });
    const pack = { kind: "pack", pack: "slides.narrate", outcome: "ok", at_unix: 1_795_000_000 };
    expect((await recorder.post("/api/v1/memory/runs", pack)).status).toBe(200);
    expect((await alice.get("/api/v1/memory/status")).body).toMatchObject({ facts: 1, audit_rows: 2 });
    expect((await bob.get("/api/v1/memory/status")).body).toMatchObject({ facts: 0, audit_rows: 0 });
  });

  // A token that only stores facts must not write rows that only the server writes.
  it("is refused from every other caller", async () => {
    const admin = served.as(await tokenFor("alice", ["admin"]));
    for (const client of [alice, admin]) {
      const { status, body } = await client.post("/api/v1/memory/runs", TOOL_RUN);
      expect([status, body.error]).toEqual([403, "forbidden"]);
    }
    expect((await alice.get("/api/v1/memory/status")).body).toMatchObject({ audit_rows: 0 });
  });

  it("is refused from every client if the server requires no token", async () => {
    const open = await ContextServer.open();
    expect((await open.as().post("/api/v1/memory/runs", TOOL_RUN)).status).toBe(403);
    await open.close();
  });
});

// verifies P-alone-writer
describe("a fact's author", () => {
  const CLAIM = { agent: "work", session_kind: "group" };
  const writerOf = async () => (await alice.get("/api/v1/memory/facts/claimed")).body.writer;

  it("is the token's subject, followed by the author that a plugin with the scope record names", async () => {
    const claimed = { key: "claimed", value: "by a plugin", writer: CLAIM };
    expect((await recorder.post("/api/v1/memory/store", claimed)).status).toBe(200);
    expect(await writerOf()).toEqual({ surface: "rest", agent: "alice/work", session_kind: "group" });
    await recorder.post("/api/v1/memory/store", { ...claimed, value: "again", writer: { agent: "alice" } });
    expect(await writerOf()).toEqual({ surface: "rest", agent: "alice" });
    await recorder.post("/api/v1/memory/store", { ...claimed, value: "mine", writer: { person: true } });
    expect(await writerOf()).toEqual({ surface: "rest-person", agent: "alice" });
    await recorder.post("/api/v1/memory/runs", { ...TOOL_RUN, writer: CLAIM });
    expect((await alice.get("/api/v1/memory/runs")).body.runs).toMatchObject([
      { writer: { surface: "rest", agent: "alice/work", session_kind: "group" } },
    ]);
  });

  it("is only the token's subject without that scope, whatever the plugin sends", async () => {
    const admin = served.as(await tokenFor("alice", ["admin"]));
    for (const client of [alice, admin]) {
      const claimed = { key: "claimed", value: "by anybody", writer: { ...CLAIM, person: true } };
      expect((await client.post("/api/v1/memory/store", claimed)).status).toBe(200);
      expect(await writerOf()).toEqual({ surface: "rest", agent: "alice" });
    }
  });

  // verifies P-pin-limits
  it("a plugin with the scope record can say that a person confirms a pin, and nobody else", async () => {
    const key = "claimed";
    const pin = async (client: typeof alice) => {
      const { body } = await client.post("/api/v1/memory/pin", { key, writer: { person: true } });
      return Date.parse(String(body.expires_at));
    };
    await alice.post("/api/v1/memory/store", { key, value: "v" });
    await pin(alice);
    const { body } = await alice.post("/api/v1/memory/renew", { key, ttl_seconds: 86_400 });
    const first = Date.parse(String(body.expires_at));
    for (const client of [alice, served.as(await tokenFor("alice", ["admin"]))])
      expect(await pin(client)).toBe(first);
    const renewed = await alice.post("/api/v1/memory/renew", { key, ttl_seconds: 365 * 86_400 });
    expect(renewed).toMatchObject({ status: 400, body: { details: { field: "key" } } });
    expect(await pin(recorder)).toBeGreaterThan(first);
  });

  it.each([
    [{ surface: "openclaw" }],
    [{ agent: "" }],
    [{ agent: "a b" }],
    [{ agent: "bob/work" }],
    [{ session_kind: "direct)\nfact" }],
    [{ agent: "a".repeat(65) }],
    ["work"],
  ])("is refused as %j", async (writer) => {
    const { status } = await recorder.post("/api/v1/memory/store", { key: "claimed", value: "v", writer });
    expect(status).toBe(400);
    expect((await alice.get("/api/v1/memory/facts/claimed")).status).toBe(404);
  });
});

describe("tool runs and memory growth", () => {
  it("are shown only to their owner, without any scope", async () => {
    await recorder.post("/api/v1/memory/runs", { ...TOOL_RUN, inputs: { file_path: "/etc/hosts" } });
    expect((await alice.get("/api/v1/memory/runs")).body).toMatchObject({
      runs: [{ kind: "tool", name: "exec", is_ok: true, ...{ at_unix: 1_795_000_000, duration_ms: 12 } }],
      unreadable: 0,
    });
    expect((await alice.get("/api/v1/memory/growth")).body).toEqual({
      days: [{ day: "2026-11-20", facts: 1, runs: 1 }],
      bytes: expect.any(Number),
    });
    expect((await bob.get("/api/v1/memory/runs")).body).toEqual({ runs: [], unreadable: 0 });
    expect((await bob.get("/api/v1/memory/growth")).body).toEqual({ days: [], bytes: 0 });
  });

  it.each([
    ["kind=tool&outcome=ok", 1],
    ["kind=pack", 0],
    ["outcome=failed", 0],
    ["until=2026-11-20T12:00:00Z", 1],
    ["until=2026-11-20T12:00:00%2B01:00", 0],
  ])("are filtered by %s", async (query, count) => {
    await recorder.post("/api/v1/memory/runs", TOOL_RUN);
    expect((await alice.get(`/api/v1/memory/runs?${query}`)).body.runs).toHaveLength(count);
  });
});

describe("status and revision", () => {
  it("report sizes without a server path, and whether anything changed", async () => {
    const { body, text } = await alice.get("/api/v1/memory/status");
    expect(body).toEqual({ mode: "keyword", facts: 1, audit_rows: 0 });
    expect(text).not.toContain(served.folder);
    const before = (await alice.get("/api/v1/memory/revision")).body.revision;
    await alice.post("/api/v1/memory/store", { key: "other", value: "thing" });
    const after = (await alice.get("/api/v1/memory/revision")).body.revision;
    expect(Number(after)).toBeGreaterThan(Number(before));
  });
});
