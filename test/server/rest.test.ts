/** REST as a client sees it: helmdeck's routes and shapes, over a real memory and the real pack engine. */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { factEntry, validateFact } from "../../engine/facts/facts-policy.ts";
import { readDay } from "../../engine/rfc3339.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { ContextServer, packThat, SECRET, tokenFor } from "./fixtures/context-server.ts";
import { SlowPipeline } from "./fixtures/mcp-context.ts";

let served: ContextServer;
let alice: ReturnType<ContextServer["as"]>;
let bob: ReturnType<ContextServer["as"]>;
let admin: ReturnType<ContextServer["as"]>;
let house: SlowPipeline;

const paint = packThat(
  async ({ artifacts }, input) => {
    await artifacts.put({ name: "wall.txt", mediaType: "text/html", content: Buffer.from("<b>blue</b>") });
    return { input };
  },
  { name: "paint.wall" },
);

beforeEach(async () => {
  house = new SlowPipeline();
  served = await ContextServer.open({ secret: SECRET, packs: [paint], pipelines: house });
  alice = served.as(await tokenFor("alice"));
  bob = served.as(await tokenFor("bob"));
  admin = served.as(await tokenFor("root", ["admin"]));
});
afterEach(() => served.close());

describe("store", () => {
  it("answers with key, category and expiry in helmdeck's format", async () => {
    const { status, body } = await alice.post("/api/v1/memory/store", {
      key: " deploy/tool ",
      value: "Konflux",
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      key: "deploy/tool",
      category: "user_facts",
      expires_at: "2027-02-18T12:00:00.000Z",
      revision: 1,
      path: "helmdeck/user_facts/deploy/tool.md",
    });
  });

  it("reports whether a fact was replaced, or only its expiry was renewed", async () => {
    await alice.post("/api/v1/memory/store", { key: "a", value: "one" });
    const again = await alice.post("/api/v1/memory/store", { key: "a", value: "one" });
    const other = await alice.post("/api/v1/memory/store", { key: "a", value: "two" });
    expect(again.body.replaced).toEqual({ updated_at: "2026-11-20T12:00:00.000Z", refreshed: true });
    expect(other.body.replaced).toMatchObject({ refreshed: false });
  });

  it("accepts a fact of the maximum size, even with every character escaped", async () => {
    const value = "\u0007".repeat(64 * 1_024); // six characters of JSON for each byte
    const { status } = await alice.post("/api/v1/memory/store", { key: "bell", value });
    expect(status).toBe(200);
  });
});

describe.each<[string, readonly (readonly [what: string, request: object, field: string])[]]>([
  [
    "store",
    [
      ["no key", { value: "v" }, "key"],
      ["no value", { key: "k" }, "value"],
      ["a key of the wrong type", { key: 7, value: "v" }, "key"],
      ["a reserved category", { key: "k", value: "v", category: "pack_history" }, "category"],
      ["a ttl below an hour", { key: "k", value: "v", ttl_seconds: 60 }, "ttl_seconds"],
      ["a ttl above a year", { key: "k", value: "v", ttl_seconds: 31_536_001 }, "ttl_seconds"],
      ["a misspelt field", { key: "k", value: "v", tll: 3_600 }, "tll"],
      ["a list", [], "The body"],
      ["a key beyond its limit", { key: "k".repeat(513), value: "v" }, "key"],
      ["a value beyond its limit", { key: "k", value: "v".repeat(65_537) }, "value"],
    ],
  ],
  [
    "store/batch",
    [
      ["no facts", {}, "facts"],
      ["an empty list", { facts: [] }, "facts"],
      ["too many", { facts: Array.from({ length: 251 }, (_, n) => ({ key: `k${n}`, value: "v" })) }, "facts"],
      ["a fact without a value", { facts: [{ key: "a", value: "v" }, { key: "k" }] }, "facts.1.value"],
      ["a misspelt field", { facts: [{ key: "a", value: "v", tll: 3_600 }] }, "facts.0.tll"],
    ],
  ],
])("%s", (path, refused) => {
  it.each(refused)("refuses %s, names the field and writes nothing", async (_what, request, field) => {
    const { status, body } = await alice.post(`/api/v1/memory/${path}`, request);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: "invalid_input", details: { field } });
    expect(body.message).toContain(field);
    expect((await alice.get("/api/v1/memory/facts")).body.facts).toEqual([]);
  });
});

describe("a batch of stores", () => {
  const PATH = "/api/v1/memory/store/batch";

  it("answers for each fact, in order", async () => {
    const facts = [
      { key: " deploy/tool ", value: "Konflux", tags: ["ci"], ttl_seconds: 3_600 },
      { key: "lunch", value: "" },
      { key: "deploy/tool", value: "Tekton", if_revision: 7 },
    ];
    const { status, body } = await alice.post(PATH, { facts, similar: false });
    expect(status).toBe(200);
    expect(body).toEqual({
      results: [
        {
          key: "deploy/tool",
          category: "user_facts",
          expires_at: "2026-11-20T13:00:00.000Z",
          revision: 1,
          path: "helmdeck/user_facts/deploy/tool.md",
        },
        {
          key: "lunch",
          error: "invalid_input",
          message: expect.stringContaining("value"),
          details: { field: "value" },
        },
        {
          key: "deploy/tool",
          error: "changed_meanwhile",
          message: expect.any(String),
          details: { revision: 1 },
        },
      ],
      refused: 2,
    });
  });

  // verifies P-alone-batch
  it("goes to the caller's own memory, whatever it says", async () => {
    await alice.post("/api/v1/memory/store", { key: "hers", value: "first" });
    const facts = [{ key: "hers", value: "second", supersedes: ["hers"] }];
    for (const more of [{ caller: "alice" }, { subject: "alice" }, { namespace: "alice" }]) {
      expect((await bob.post(PATH, { facts, ...more })).status).toBe(400);
      expect((await bob.post(PATH, { facts: facts.map((one) => ({ ...one, ...more })) })).status).toBe(400);
      expect((await bob.post(`${PATH}?caller=alice`, { facts })).body).toMatchObject({ refused: 0 });
    }
    expect((await alice.get("/api/v1/memory/facts/hers")).body).toMatchObject({ value: "first" });
    expect((await bob.get("/api/v1/memory/facts/hers")).body).toMatchObject({ value: "second" });
  });

  // verifies P-alone-writer
  it("keeps the token's subject as the writer, and a claim with the scope record only", async () => {
    const recorder = served.as(await tokenFor("alice", ["record"]));
    const writer = { agent: "work", session_kind: "group" };
    for (const [client, agent] of [
      [alice, "alice"],
      [recorder, "alice/work"],
    ] as const) {
      await client.post(PATH, { facts: [{ key: "k", value: agent }], writer });
      expect((await alice.get("/api/v1/memory/facts/k")).body).toMatchObject({
        value: agent,
        writer: { surface: "rest", agent },
      });
    }
    expect((await alice.post(PATH, { facts: [{ key: "k", value: "v", writer }] })).status).toBe(400);
  });

  it("refuses a body that is too large, with its limit, and writes nothing", async () => {
    const facts = Array.from({ length: 10 }, (_, n) => ({ key: `k${n}`, value: "v".repeat(60_000) }));
    const { status, body } = await alice.post(PATH, { facts });
    expect(status).toBe(413);
    expect(body).toMatchObject({ error: "too_large", details: { limit_bytes: 524_288 } });
    expect((await alice.get("/api/v1/memory/facts")).body.facts).toEqual([]);
  });

  it("answers 503 if memory is lost before any fact was stored", async () => {
    await served.open.store.close();
    const { status, body, text } = await alice.post(PATH, { facts: [{ key: "k", value: "canary" }] });
    expect([status, body.error]).toEqual([503, "store_unavailable"]);
    expect(text).not.toContain("canary");
  });
});

describe("facts", () => {
  it("are returned by key, whatever characters the key has", async () => {
    for (const key of ["deploy/konflux", "100% sure", "a?b#c", "ключ/é", "%2F", "a+b c"]) {
      await alice.post("/api/v1/memory/store", { key, value: `value of ${key}` });
      const { status, body } = await alice.get(`/api/v1/memory/facts/${encodeURIComponent(key)}`);
      expect(status, key).toBe(200);
      expect(body).toMatchObject({ key, value: `value of ${key}`, category: "user_facts" });
    }
  });

  it("are read as of a time, and a history since one", async () => {
    await alice.post("/api/v1/memory/store", { key: "tool", value: "Jenkins" });
    await alice.post("/api/v1/memory/store", { key: "tool", value: "Konflux" });
    const [before, now] = ["2026-11-19T12:00:00Z", "2026-11-21T12:00:00Z"];
    expect((await alice.get(`/api/v1/memory/facts?as_of=${now}`)).body.facts).toMatchObject([
      { value: "Konflux" },
    ]);
    expect((await alice.get(`/api/v1/memory/facts?as_of=${before}`)).body.facts).toEqual([]);
    expect((await alice.get(`/api/v1/memory/facts/tool?as_of=${now}`)).body).toMatchObject({
      value: "Konflux",
    });
    expect((await alice.get(`/api/v1/memory/facts/tool?as_of=${before}`)).status).toBe(404);
    const since = await alice.get(`/api/v1/memory/facts/tool/history?since=${before}`);
    expect(since.body.former).toMatchObject([{ value: "Jenkins" }]);
    for (const asked of ["facts?as_of", "facts/tool?as_of", "facts/tool/history?since", "runs?until"])
      for (const text of ["yesterday", "2026-02-30", "2026-11-20T24:00:00Z"])
        expect(await alice.get(`/api/v1/memory/${asked}=${text}`), asked).toMatchObject({
          status: 400,
          body: { message: expect.stringContaining("must be a day such as 2026-11-20, or a time") },
        });
  });

  it("of a day are read as of that day for the asker, in UTC where no offset says another", async () => {
    const fact = validateFact({ key: "note", value: "Cache" });
    const [createdAt, expiresAt] = [readDay("2026-11-10") ?? 0, Date.UTC(2027, 0, 1)];
    await served.open.store.put(
      factEntry(namespaceOf("alice"), fact, { createdAt, updatedAt: createdAt, expiresAt }),
    );
    const on = async (asOf: string) =>
      (await alice.get(`/api/v1/memory/facts?as_of=${encodeURIComponent(asOf)}`)).body.facts;
    for (const before of ["2026-11-09", "2026-11-09T20:00:00-08:00"]) expect(await on(before)).toEqual([]);
    for (const then of ["2026-11-10", "2026-11-10T00:30:00+14:00"]) expect(await on(then)).toHaveLength(1);
  });

  it("have times, tags, fingerprint and path", async () => {
    await alice.post("/api/v1/memory/store", { key: "k", value: "React over Vue", tags: ["ui"] });
    expect((await alice.get("/api/v1/memory/facts/k")).body).toEqual({
      key: "k",
      value: "React over Vue",
      category: "user_facts",
      tags: ["ui"],
      created_at: "2026-11-20T12:00:00.000Z",
      updated_at: "2026-11-20T12:00:00.000Z",
      expires_at: "2027-02-18T12:00:00.000Z",
      fingerprint: createHash("sha256").update("React over Vue").digest("hex").slice(0, 16),
      revision: 1,
      path: "helmdeck/user_facts/k.md",
      writer: { surface: "rest", agent: "alice" },
    });
  });

  it("that do not exist or belong to another caller are both not_found", async () => {
    await alice.post("/api/v1/memory/store", { key: "k", value: "hers" });
    const missing = await bob.get("/api/v1/memory/facts/none");
    const hers = await bob.get("/api/v1/memory/facts/k");
    expect(missing.status).toBe(404);
    expect({ ...hers.body, request_id: "" }).toEqual({ ...missing.body, request_id: "" });
  });

  it("are listed by prefix and category, in pages", async () => {
    for (const n of [1, 2, 3]) await alice.post("/api/v1/memory/store", { key: `a/${n}`, value: "v" });
    await alice.post("/api/v1/memory/store", { key: "A/4", value: "v", category: "team" });
    const first = await alice.get("/api/v1/memory/facts?prefix=a%2F&limit=2");
    expect(first.body.facts).toHaveLength(2);
    const next = encodeURIComponent(String(first.body.next_cursor));
    const second = await alice.get(`/api/v1/memory/facts?prefix=a%2F&limit=2&cursor=${next}`);
    expect(second.body.facts).toHaveLength(1);
    expect(second.body.next_cursor).toBeUndefined();
    expect((await alice.get("/api/v1/memory/facts?category=team")).body.facts).toMatchObject([
      { key: "A/4" },
    ]);
  });

  it.each([
    ...["limit=0", "limit=1001", "limit=ten", "limit=1.5", "limit=", "colour=blue", "cursor=nonsense"],
    ...["kind=secret", "outcome=none", "until=yesterday", "limit=201", "cursor=x", "untill=1"],
  ])("and runs refuse the parameter %s", async (query) => {
    for (const path of query === "limit=201" ? ["runs"] : ["facts", "runs"]) {
      const { status, body } = await alice.get(`/api/v1/memory/${path}?${query}`);
      expect([status, body.error]).toEqual([400, "invalid_input"]);
    }
  });
});

describe("forget", () => {
  beforeEach(async () => {
    await alice.post("/api/v1/memory/store", { key: "k", value: "v" });
  });

  it("only counts in a dry run, and deletes otherwise", async () => {
    const dry = await alice.post("/api/v1/memory/forget", { scope: "key:k", dry_run: true });
    expect(dry.body).toEqual({
      ...{ scope: "key:k", deleted: 1, dry_run: true, erased: "nothing" },
      revision: expect.any(Number),
    });
    expect((await alice.get("/api/v1/memory/facts/k")).status).toBe(200);
    const real = await alice.post("/api/v1/memory/forget", { scope: "key:k" });
    expect(real.body).toEqual({ scope: "key:k", deleted: 1, dry_run: false, erased: "complete" });
    expect((await alice.get("/api/v1/memory/facts/k")).status).toBe(404);
  });

  // verifies P-condition-judged
  it("leaves what was stored after the dry run, and names it", async () => {
    const dry = await alice.post("/api/v1/memory/forget", { scope: "category:user_facts", dry_run: true });
    await alice.post("/api/v1/memory/store", { key: "late", value: "after" });
    const asked = { scope: "category:user_facts", up_to: dry.body.revision };
    const { status, body } = await alice.post("/api/v1/memory/forget", asked);
    expect(status).toBe(200);
    expect(body).toMatchObject({ deleted: dry.body.deleted, newer: { count: 1, keys: ["late"] } });
    expect((await alice.get("/api/v1/memory/facts/late")).status).toBe(200);
  });

  it("accepts the same names from a search result for get and for forget", async () => {
    const { docid, path } = { docid: "user_facts/k", path: "helmdeck/user_facts/k.md" };
    for (const shown of [docid, path, `${path}#L1-L5`, `${docid}#L3`]) {
      const got = await alice.get(`/api/v1/memory/facts/${encodeURIComponent(shown)}`);
      expect([got.status, got.body.key]).toEqual([200, "k"]);
      expect((await bob.get(`/api/v1/memory/facts/${encodeURIComponent(shown)}`)).status).toBe(404);
    }
    expect((await alice.post("/api/v1/memory/forget", { scope: docid })).body.deleted).toBe(1);
    expect((await alice.get(`/api/v1/memory/facts/${encodeURIComponent(docid)}`)).status).toBe(404);
  });

  it("does not affect other callers", async () => {
    expect((await bob.post("/api/v1/memory/forget", { scope: "everything" })).body.deleted).toBe(0);
    expect((await alice.get("/api/v1/memory/facts/k")).status).toBe(200);
  });
});

describe("corpus and my-memory", () => {
  it("return chunks in pages, ranked chunks for a query, and a summary without values", async () => {
    await alice.post("/api/v1/memory/store", { key: "deploy/tool", value: "We deploy through Konflux" });
    await alice.post("/api/v1/memory/store", { key: "lunch", value: "soup" });
    const all = await alice.get("/api/v1/memory/corpus?limit=1");
    expect(all.body.chunks).toHaveLength(1);
    expect(all.body.next_cursor).toBeTypeOf("string");
    const { body } = await alice.get("/api/v1/memory/corpus?query=konflux+deployment");
    expect(body.chunks).toMatchObject([
      { docid: "user_facts/deploy/tool", collection: "helmdeck-user_facts", score: expect.any(Number) },
    ]);
    const mine = await alice.get("/api/v1/memory");
    expect(mine.body).toMatchObject({
      scope: "caller=alice",
      categories: [{ name: "user_facts", count: 2, recent_keys: expect.arrayContaining(["lunch"]) }],
    });
    expect(mine.text).not.toContain("soup");
    expect((await bob.get("/api/v1/memory/corpus")).body.chunks).toEqual([]);
    expect((await bob.get("/api/v1/memory")).body.categories).toEqual([]);
  });
});

describe("defaults and callers", () => {
  beforeEach(async () => {
    await alice.post("/api/v1/packs/paint.wall", { theme: "blue" });
  });

  it("are learnt from runs, in helmdeck's format", async () => {
    const { body } = await alice.get("/api/v1/memory/defaults");
    expect(body).toMatchObject({
      scope: "caller=alice",
      packs: [{ id: "paint.wall", calls: 1, common_inputs: { theme: "blue" } }],
      pipelines: [],
      recent: [{ kind: "pack", id: "paint.wall", outcome: "ok", learn_inputs: { theme: "blue" } }],
    });
  });

  it("of another caller need the scope admin", async () => {
    const refused = await bob.get("/api/v1/memory/defaults?caller=alice");
    expect([refused.status, refused.body.error]).toEqual([403, "forbidden"]);
    expect(refused.text).not.toContain("paint");
    expect((await bob.get("/api/v1/memory/defaults?caller=bob")).body.packs).toEqual([]);
    expect((await admin.get("/api/v1/memory/defaults?caller=alice")).body.packs).toHaveLength(1);
  });

  it("list all callers for an admin, and only the caller itself otherwise", async () => {
    const callersOf = async (who: typeof alice) => (await who.get("/api/v1/memory/callers")).body.callers;
    expect(await callersOf(admin)).toMatchObject([{ namespace: "alice", count: 1 }]);
    const counting = vi.spyOn(served.open.store, "subjects");
    expect(await callersOf(bob)).toEqual([]);
    expect(await callersOf(alice)).toMatchObject([{ namespace: "alice", count: 1 }]);
    expect(counting).not.toHaveBeenCalled(); // others' entries cost the caller's question no time
  });
});

describe("packs", () => {
  it("are listed with their schemas", async () => {
    const pack = {
      name: "paint.wall",
      version: "1.0.0",
      versions: ["1.0.0"],
      latest: "1.0.0",
      input_schema: { type: "object" },
      starts_process: false,
    };
    expect(JSON.parse((await alice.get("/api/v1/packs")).text)).toMatchObject([pack]);
    expect((await alice.get("/api/v1/packs/paint.wall")).body).toMatchObject(pack);
    expect(await alice.get("/api/v1/packs/no.such")).toMatchObject({
      status: 404,
      body: { error: "not_found" },
    });
  });

  it.each(["1.0.0", "v1.0.0", "v1", "latest"])("run by name and version, which is %s", async (version) => {
    const { status, body } = await alice.post(`/api/v1/packs/paint.wall/${version}`, { theme: "blue" });
    expect([status, body.output]).toEqual([200, { input: { theme: "blue" } }]);
  });

  it.each(["2.0.0", "v2", "1", "v10"])("do not run by a version that does not exist: %s", async (version) => {
    const { status, body } = await alice.post(`/api/v1/packs/paint.wall/${version}`, {});
    expect([status, body.message]).toEqual([404, expect.stringContaining("has only version 1.0.0")]);
    expect((await alice.get("/api/v1/memory/defaults")).body.recent).toEqual([]);
  });

  it.each([
    ["without a Content-Type", {}],
    ["with a Content-Type", { "Content-Type": "application/json" }],
  ])("run without a body as with {}, and %s", async (_, headers) => {
    const authorization = { Authorization: `Bearer ${await tokenFor("alice")}` };
    const post = { method: "POST", headers: { ...authorization, ...headers } };
    for (const path of ["/api/v1/packs/paint.wall", "/api/v1/packs/paint.wall/latest"])
      expect((await served.answerTo(path, post)).body.output).toEqual({ input: {} });
    const started = await served.answerTo("/api/v1/pipelines/house/run?wait=false", post);
    expect([started.status, house.inputs]).toEqual([202, {}]);
    for (const path of ["/api/v1/memory/forget", "/api/v1/memory/store", "/api/v1/packs"])
      expect((await served.answerTo(path, post)).status, path).toBeGreaterThanOrEqual(400);
  });

  it("answer with output, version, milliseconds and artifacts", async () => {
    const { status, body } = await alice.post("/api/v1/packs/paint.wall", { theme: "blue" });
    expect(status).toBe(200);
    expect(body).toEqual({
      pack: "paint.wall",
      version: "1.0.0",
      output: { input: { theme: "blue" } },
      artifacts: [{ id: "art_0", name: "wall.txt", media_type: "text/html", size_bytes: 11, sha256: "" }],
      duration_ms: expect.any(Number),
      cached: false,
    });
  });

  it("make artifacts that only their caller can download, and no browser renders", async () => {
    await alice.post("/api/v1/packs/paint.wall", {});
    const file = await alice.get("/api/v1/artifacts/art_0");
    expect([file.status, file.text]).toEqual([200, "<b>blue</b>"]);
    expect(file.headers.get("content-type")).toBe("application/octet-stream");
    expect(file.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''wall.txt");
    expect(file.headers.get("x-content-type-options")).toBe("nosniff");
    expect((await bob.get("/api/v1/artifacts/art_0")).status).toBe(404);
  });

  it("that do not exist are not_found", async () => {
    expect((await alice.post("/api/v1/packs/no.such", {})).status).toBe(404);
  });
});

describe("pipelines", () => {
  it("are listed", async () => {
    expect(JSON.parse((await alice.get("/api/v1/pipelines")).text)).toMatchObject([
      { id: "house", steps: [{ id: "wall", pack: "paint.slow_wall" }] },
    ]);
  });

  it("accept their inputs at the top level or under inputs", async () => {
    for (const body of [{ theme: "blue" }, { inputs: { theme: "blue" } }]) {
      await alice.post("/api/v1/pipelines/house/run?wait=false", body);
      expect(house.inputs).toEqual({ theme: "blue" });
    }
    await alice.post("/api/v1/pipelines/house/run?wait=false", { inputs: {}, theme: "red" });
    expect(house.inputs).toEqual({ inputs: {}, theme: "red" });
  });

  it.each([
    ["Prefer: respond-async", "", { Prefer: "respond-async" }],
    ["?wait=false", "?wait=false", {}],
  ])("answer at once when asked to by %s", async (_how, query, headers) => {
    const {
      status,
      body,
      headers: answered,
    } = await alice.post(`/api/v1/pipelines/house/run${query}`, { theme: "blue" }, headers);
    expect([status, body.run_id, body.state]).toEqual([202, "run_1", "running"]);
    expect(answered.get("location")).toBe("/api/v1/pipelines/runs/run_1");
    expect((await alice.get("/api/v1/pipelines/runs/run_1")).body.run_id).toBe("run_1");
  });

  it("answer when they end by default, and can be cancelled before", async () => {
    const waiting = alice.post("/api/v1/pipelines/house/run", { theme: "blue" });
    await house.begun;
    const cancelled = await alice.delete("/api/v1/pipelines/runs/run_1");
    expect([cancelled.status, cancelled.body.state]).toEqual([200, "cancelled"]);
    expect((await waiting).body).toMatchObject({ state: "cancelled" });
  });
});
