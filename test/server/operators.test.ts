/** What an operator does about callers over REST: who uses how much, limits for one, and lists, exports and forgets a subject. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { exportLines } from "../../app/transfer/export-lines.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { CallerCounts, MOST_CALLERS } from "../../server/caller-counts.ts";
import { createServer } from "../../server/create-server.ts";
import { MOST_BODY_BYTES } from "../../server/guards/body.ts";
import { mcpMount } from "../../server/mcp/mcp-over-http.ts";
import { mintToken } from "../../server/tokens.ts";
import { ContextServer, NOW, packThat, SECRET, tokenFor } from "./fixtures/context-server.ts";

const MEMORY = "/api/v1/memory";
const STORE = `${MEMORY}/store`;
const NONE = { rate: 0, size: 0, limit: 0, auth: 0 };

type Asker = ReturnType<ContextServer["as"]>;

const limits = new Map<
  string,
  { readonly rate?: number; readonly entries?: number; readonly bytes?: number }
>();
let served: ContextServer;
let root: Asker;
let alice: Asker;
let bob: Asker;
beforeEach(async () => {
  limits.clear();
  served = await ContextServer.open({ secret: SECRET, callerLimits: limits });
  root = served.as(await tokenFor("root", ["admin"]));
  alice = served.as(await tokenFor("alice"));
  bob = served.as(await tokenFor("bob"));
});
afterEach(() => served.close());

const store = (who: Asker, key: string, value = "v") => who.post(STORE, { key, value });

async function statuses(count: number, ask: (at: number) => Promise<{ readonly status: number }>) {
  const all: number[] = [];
  for (let at = 0; at < count; at += 1) all.push((await ask(at)).status);
  return all;
}

// verifies P-alone-quota
describe("a limit of one caller", () => {
  it("of its rate is one error with Retry-After, and no matter of the caller beside it", async () => {
    limits.set("alice", { rate: 2 });
    expect(await statuses(3, () => alice.get(MEMORY))).toEqual([200, 200, 429]);
    expect(await statuses(3, () => bob.get(MEMORY))).toEqual([200, 200, 200]);
    const { body, headers } = await alice.get(MEMORY);
    expect(body.message).toMatch(
      /^More than 2 requests a minute from this caller. Wait \d+ s and try again.$/,
    );
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it.each([
    ["a higher one", { rate: 9 }, [200, 200, 200, 200]],
    ["none", { rate: 0 }, [200, 200, 200, 200]],
    ["that of all", {}, [200, 200, 200, 200]],
    ["a lower one", { rate: 1 }, [429, 429, 429, 429]],
  ])("is live: after it became %s, it holds at once", async (_what, changed, expected) => {
    limits.set("alice", { rate: 2 });
    expect(await statuses(3, () => alice.get(MEMORY))).toEqual([200, 200, 429]);
    limits.set("alice", changed);
    expect(await statuses(4, () => alice.get(MEMORY))).toEqual(expected);
  });

  it("holds where all have none", async () => {
    served.server.change({ requestsPerMinute: 0, callerLimits: limits });
    limits.set("alice", { rate: 1 });
    expect(await statuses(3, () => alice.get(MEMORY))).toEqual([200, 429, 429]);
    expect(await statuses(3, () => bob.get(MEMORY))).toEqual([200, 200, 200]);
  });

  it.each([
    ["entries", { entries: 1 }, "1 entries"],
    ["bytes", { bytes: 200 }, "200 bytes of values"],
    ["MiB", { bytes: 2 ** 20 }, "1 MiB of values"],
  ])(
    "of %s refuses more, says the limit and what to do, and is no matter of the caller beside it",
    async (what, one, limit) => {
      limits.set("alice", one);
      const value = what === "MiB" ? "x".repeat(65_000) : "v";
      const tried = await statuses(20, (at) => store(alice, `k${at}`, value));
      expect(tried[0]).toBe(200);
      expect(tried.at(-1)).toBe(507);
      const { body } = await store(alice, "more", value);
      expect(body).toMatchObject({ error: "quota_exceeded", details: { subject: "alice", limit } });
      expect(body.message).toContain("Forget facts that are no longer needed, or ask the operator");
      expect(await statuses(20, (at) => store(bob, `k${at}`, value))).toEqual(Array(20).fill(200));
      limits.delete("alice");
      expect((await store(alice, "more", value)).status).toBe(200);
    },
  );
});

describe("who uses how much", () => {
  const usage = async (who: Asker, query = "") => (await who.get(`${MEMORY}/callers${query}`)).body;

  it("is exact for each caller: entries, bytes, requests, and refusals by reason", async () => {
    limits.set("alice", { entries: 2, rate: 9 }).set("bob", { entries: 9 });
    await statuses(3, (at) => store(alice, `k${at}`)); // the third is over the limit
    await alice.post(STORE, { key: "k", value: "x".repeat(MOST_BODY_BYTES) });
    await alice.get("/metrics"); // without the right
    await alice.get(`${MEMORY}/facts?subject=bob`);
    await alice.get(`${MEMORY}/facts?limit=x`); // refused for its input: no limit, no right
    await alice.get("/healthz"); // open
    await statuses(2, () => alice.get(MEMORY)); // the last is one too many
    await store(bob, "k");
    const expired = await mintToken(SECRET, { subject: "bob", ttlSeconds: 60 }, NOW - 3_600_000);
    await served.as(expired.token).get(MEMORY);
    const forged = await mintToken(Buffer.alloc(32, "x"), { subject: "bob", ttlSeconds: 60 }, NOW);
    await served.as(forged.token).get(MEMORY); // nobody knows whose it is
    await served.as().get(MEMORY);
    const bytes = async (subject: string) => (await served.open.growth(subject)).bytes;
    const told = await usage(root);
    expect(told).toEqual({
      callers: [
        {
          ...{ namespace: "alice", count: 2, bytes: await bytes("alice"), requests: 9 },
          refused: { rate: 1, size: 1, limit: 1, auth: 2 },
        },
        { namespace: "bob", count: 1, bytes: await bytes("bob"), requests: 2, refused: { ...NONE, auth: 1 } },
      ],
      engine: { started_at: new Date(NOW).toISOString(), dropped: 0 },
    });
    expect((await usage(root)).callers).toContainEqual({
      ...{ namespace: "root", count: 0, bytes: 0, requests: 1, refused: NONE },
    });
  });

  it("counts what is refused within a request of MCP", async () => {
    const full = packThat(() => Promise.reject(new HelmdeckError("quota_exceeded", "Full.")));
    await served.close();
    served = await ContextServer.open({ packs: [full] });
    const mount = mcpMount(served.serverContext);
    const { app } = createServer(served.serverContext, { secret: SECRET, now: () => NOW, mounts: [mount] });
    const headers = { Authorization: `Bearer ${await tokenFor("alice")}` };
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(
      new StreamableHTTPClientTransport(new URL("http://localhost/api/v1/mcp"), {
        fetch: async (url, init) => app.request(String(url), init),
        requestInit: { headers },
      }),
    );
    for (const name of ["test__do", "test__do"]) await client.callTool({ name, arguments: {} });
    const told: unknown = await (await app.request(`${MEMORY}/callers`, { headers })).json();
    expect(told).toMatchObject({ callers: [{ namespace: "alice", refused: { ...NONE, limit: 2 } }] });
    await client.close();
    await mount.close?.();
  });

  // verifies P-alone-subjects
  it("is the caller's own without the scope admin", async () => {
    for (const who of [alice, bob]) await store(who, "k");
    expect((await usage(alice)).callers).toMatchObject([{ namespace: "alice", count: 1, requests: 1 }]);
    const recorder = served.as(await tokenFor("recorder", ["record", "metrics"]));
    expect((await usage(recorder)).callers).toMatchObject([]);
  });

  it("comes page by page, in one order, with those who have no entries", async () => {
    const stored = ["ana", "b:x", "zoë", "\u{1f600}"];
    for (const key of stored) await served.open.storeFact(key, { key: "k", value: "v" });
    for (const name of ["b%", "z", "\uffee"]) await served.as(await tokenFor(name)).get(MEMORY);
    const pages: unknown[][] = [];
    let cursor = "";
    for (let more = true; more; ) {
      const page = await usage(root, `?limit=3${cursor}`);
      pages.push((page.callers as { readonly namespace: string }[]).map(({ namespace }) => namespace)); // the reply's
      cursor = `&cursor=${encodeURIComponent(`${page.next_cursor}`)}`;
      more = page.next_cursor !== undefined;
    }
    expect(pages).toEqual([
      ["ana", "b%", "b:x"],
      ["root", "z", "zoë"],
      ["\uffee", "\u{1f600}"],
    ]);
    expect((await root.get(`${MEMORY}/callers?limit=0`)).status).toBe(400);
  });

  it("is counted for a fixed number of callers; who made room is told as a number", async () => {
    const counts = new CallerCounts(() => NOW);
    for (let at = 0; at < MOST_CALLERS + 2; at += 1) counts.count(`caller-${at}`, "forbidden", 1);
    const page = await counts.callersOver(served.open)(undefined, { limit: 1 });
    expect(page.engine?.dropped).toBe(2);
  });
});

describe("an operator", () => {
  const forget = (who: Asker, body: object) => who.post(`${MEMORY}/forget`, body);
  const keysOf = async (who: Asker, path: string) =>
    ((await who.get(path)).body.facts as { readonly key: string }[]).map(({ key }) => key).sort(); // the reply's

  beforeEach(async () => {
    for (const value of ["first of alice", "second of alice"]) await store(alice, "a/one", value);
    await store(alice, "a/two", "v");
    await served.open.recordPackRun("alice", { pack: "p", outcome: "ok", at_unix: NOW / 1_000 });
    await store(bob, "bobs");
    await store(root, "roots");
  });

  // verifies P-alone-subjects, P-alone-operator
  it.each([
    ["GET", "facts", {}],
    ["GET", "export", {}],
    ["POST", "forget", { scope: "all", dry_run: true }],
    ["POST", "forget", { scope: "all" }],
    ["GET", "defaults", {}],
  ])(
    "names a subject with the scope admin only: without, %s %s is refused alike for those who exist and those who do not",
    async (method, route, body) => {
      const field = route === "defaults" ? "caller" : "subject";
      const recorder = served.as(await tokenFor("recorder", ["record", "metrics", "administrator", "ADMIN"]));
      for (const who of [bob, recorder]) {
        const [known, unknown] = await Promise.all(
          ["alice", "nobody"].map((name) =>
            method === "GET"
              ? who.get(`${MEMORY}/${route}?${field}=${name}`)
              : who.post(`${MEMORY}/${route}`, { ...body, subject: name }),
          ),
        );
        const { request_id: _, ...refusal } = known?.body ?? {};
        expect(refusal).toEqual({
          error: "forbidden",
          message: "Another caller's memory requires a token with the scope admin.",
        });
        expect(unknown?.body).toMatchObject(refusal);
      }
      expect(await keysOf(alice, `${MEMORY}/facts`)).toEqual(["a/one", "a/two"]);
    },
  );

  it("asks with its own operations about its own memory, and with a subject about that one", async () => {
    expect(await keysOf(root, `${MEMORY}/facts`)).toEqual(["roots"]);
    expect(await keysOf(root, `${MEMORY}/facts?subject=root`)).toEqual(["roots"]);
    expect(await keysOf(root, `${MEMORY}/facts?subject=alice`)).toEqual(["a/one", "a/two"]);
    expect(await keysOf(root, `${MEMORY}/facts?subject=alice&prefix=a/t`)).toEqual(["a/two"]);
    expect(await keysOf(bob, `${MEMORY}/facts?subject=bob`)).toEqual(["bobs"]);
    for (const path of ["facts?subject=", "export?subject=", "facts?subject=%20"])
      expect((await root.get(`${MEMORY}/${path}`)).body.message).toContain("subject is empty; name a caller");
    const nobodys = await forget(root, { scope: "all", subject: "", up_to: 99 });
    expect([nobodys.status, await keysOf(root, `${MEMORY}/facts`)]).toEqual([400, ["roots"]]);
    // A subject is no field of any other operation.
    for (const path of ["runs", "review", "growth?", "corpus"])
      await root.get(`${MEMORY}/${path}?subject=alice`);
    expect((await root.get(`${MEMORY}/corpus?subject=alice`)).status).toBe(400);
  });

  it("exports a subject page by page, as the command does, and is told what could not be exported", async () => {
    const expected: string[] = [];
    const asked = { memory: served.open, subject: "alice", withHistory: true, onProblem: () => {} };
    for await (const line of exportLines(asked)) expected.push(line);
    const lines: unknown[] = [];
    let cursor: unknown = "0";
    while (cursor !== undefined) {
      const path = `${MEMORY}/export?subject=alice&limit=1&with_history=true&cursor=${cursor}`;
      const { body } = await root.get(path);
      expect(body.problems).toEqual([]);
      lines.push(...(body.lines as string[])); // the reply's
      cursor = body.next_cursor;
    }
    expect(lines).toEqual(expected);
    expect(lines).toHaveLength(3);
    expect(lines.join()).toContain("first of alice");
    expect((await root.get(`${MEMORY}/export?subject=alice`)).text).not.toContain("first of alice");
    expect((await root.get(`${MEMORY}/export?subject=alice&cursor=x`)).status).toBe(400);
    expect((await bob.get(`${MEMORY}/export`)).body.lines).toEqual([expect.stringContaining('"bobs"')]);
    await served.open.store.put({
      ...{ namespace: "alice" as never, origin: "fact", key: "no text", category: "user_facts", tags: [] },
      value: Uint8Array.of(0xff),
    });
    expect((await root.get(`${MEMORY}/export?subject=alice`)).body.problems).toEqual([
      { origin: "fact", key: "no text", code: "invalid_input", reason: "is not valid text" },
    ]);
  });

  // verifies P-forget-exact, P-alone-operator
  it("forgets a subject after a dry run only, exactly what that counted, while the subject writes", async () => {
    const everything = { scope: "everything", subject: "alice" };
    for (const unconfirmed of [{}, { up_to: null }, { dry_run: false }]) {
      const { status, body } = await forget(root, { ...everything, ...unconfirmed });
      expect([status, body.message]).toEqual([
        400,
        expect.stringContaining("with the revision of a dry run"),
      ]);
    }
    const { body: counted } = await forget(root, { ...everything, dry_run: true });
    expect(counted).toMatchObject({ deleted: 3, dry_run: true, revision: expect.any(Number) });
    await store(alice, "meanwhile");
    const { body: gone } = await forget(root, { ...everything, up_to: counted.revision });
    expect(gone).toMatchObject({ deleted: 3, erased: "complete", newer: { count: 1, keys: ["meanwhile"] } });
    expect(await keysOf(alice, `${MEMORY}/facts`)).toEqual(["meanwhile"]);
    expect((await alice.post(`${MEMORY}/search`, { query: "first of alice" })).body.results).toEqual([]);
    expect((await root.get(`${MEMORY}/export?subject=alice`)).text).not.toContain("of alice");
    expect([await keysOf(bob, `${MEMORY}/facts`), await keysOf(root, `${MEMORY}/facts`)]).toEqual([
      ["bobs"],
      ["roots"],
    ]);
    expect((await forget(root, { scope: "all" })).body.deleted).toBe(1); // its own needs none
  });
});
