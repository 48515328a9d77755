/**
 * Two callers on every page. The list comes from the routes. Neither caller sees or changes the other's data, and an operator does not
 * either. Requests that only read change nothing. A page without a case here fails.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ContextServer, NOW, SECRET, tokenFor } from "../server/fixtures/context-server.ts";
import { type Fields, PageVisitor } from "../server/fixtures/page-visitor.ts";

const CANARY = "canary-of-alice";
const KEY = new URLSearchParams({ key: CANARY });

let served: ContextServer;
let visitors: Readonly<Record<"alice" | "bob" | "operator", PageVisitor>>;
beforeAll(async () => {
  served = await ContextServer.open({ secret: SECRET, pages: {}, requestsPerMinute: 0 });
  const { memory } = served.serverContext;
  await memory.storeFact("alice", { key: CANARY, value: "canary, the first" });
  await memory.storeFact("alice", { key: CANARY, value: `${CANARY}, once more`, tags: [CANARY] });
  await memory.storeFact("alice", { key: "soon", value: CANARY, ttlSeconds: 3_600 });
  await memory.recordToolCall("alice", {
    tool: CANARY,
    outcome: "ok",
    at_unix: NOW / 1_000,
    inputs: { path: CANARY },
  });
  await memory.storeFact("bob", { key: "his", value: "What is it of alice, once more?" });
  visitors = {
    alice: await PageVisitor.of(served, await tokenFor("alice")),
    bob: await PageVisitor.of(served, await tokenFor("bob")),
    operator: await PageVisitor.of(served, await tokenFor("ops", ["admin"])),
  };
});
afterAll(() => served.close());

/** Everything of Alice's, word for word. */
async function hers(): Promise<string> {
  const { memory } = served.serverContext;
  const [facts, history, counts] = [
    await memory.listFacts("alice", {}),
    await memory.factHistory("alice", { key: CANARY }),
    await memory.status("alice"),
  ];
  return JSON.stringify([facts, history, counts.subject]);
}

const ofFact = (path: string) => [`${path}?${KEY}`, path];
const search = new URLSearchParams({ q: "What is it of alice, once more?" });

/** Addresses of each page that show Alice's data if she requests them. */
const shown: Readonly<Record<string, readonly string[]>> = {
  "/": ["/", `/?${search}`],
  "/facts": ["/facts", `/facts?${search}`, `/facts?prefix=${CANARY}`],
  "/fact": ofFact("/fact"),
  "/timeline": ["/timeline", "/timeline?kind=run"],
  "/ending": ["/ending"],
  "/growth": ["/growth"],
  // A server knows nothing of it.
  "/unasked": ["/unasked"],
  "/health": ["/health"],
  "/callers": ["/callers"],
  "/edit": ofFact("/edit"),
  "/renew": ofFact("/renew"),
  "/renewals": ["/renewals?which=all", "/renewals?which=undo", "/renewals"],
  "/pin": ofFact("/pin"),
  "/supersede": ofFact("/supersede"),
  "/tidy": ["/tidy"],
  "/merge": [`/merge?${KEY}&over=["soon"]`, "/merge"],
  "/apart": [`/apart?keys=["soon","${CANARY}"]`, `/apart?keys=["soon","${CANARY}"]&again=1`],
  "/undo": ofFact("/undo"),
  "/forget": ofFact("/forget"),
  "/remember": ["/remember"],
  "/sign-in": ["/sign-in"],
};

const confirm = { step: "confirm", revision: "2", up_to: "2", value: "of bob", key: CANARY, life: "604800" };

/** Forms for each page that try to reach or change Alice's data. */
const sent: Readonly<Record<string, readonly (readonly [path: string, fields: Fields])[]>> = {
  "/edit": [
    [`/edit?${KEY}`, confirm],
    [`/edit?${KEY}`, { value: CANARY }],
  ],
  "/renew": [
    [`/renew?${KEY}`, confirm],
    [`/renew?${KEY}`, {}],
  ],
  "/renewals": [
    ["/renewals?which=all", confirm],
    ["/renewals?which=undo", confirm],
  ],
  "/selected": ["categorise", "renew", "forget"].flatMap((what) => [
    ["/selected", { chosen: CANARY, step: what }] as const,
    ["/selected", { ...confirm, chosen: CANARY, what, category: "his" }] as const,
  ]),
  "/pin": [
    [`/pin?${KEY}`, { ...confirm, step: "pin" }],
    [`/pin?${KEY}`, { ...confirm, step: "unpin" }],
  ],
  "/supersede": [[`/supersede?${KEY}`, { ...confirm, key: "bobs" }]],
  "/merge": [[`/merge?${KEY}&over=["soon"]`, confirm]],
  "/apart": [
    [`/apart?keys=["soon","${CANARY}"]`, confirm],
    [`/apart?keys=["soon","${CANARY}"]&again=1`, confirm],
  ],
  "/undo": [[`/undo?${KEY}`, confirm]],
  "/forget": [`key:${CANARY}`, "all", "tools", "packs", "pipelines"].flatMap((scope) => [
    ["/forget", { scope }] as const,
    ["/forget", { ...confirm, scope, typed: "forget all" }] as const,
  ]),
  "/remember": [
    ["/remember", { value: "What is it of alice?" }],
    ["/remember", confirm],
  ],
  "/sign-in": [],
  "/sign-out": [],
};

function readable(page: string): string {
  return page.replaceAll(CANARY, "").toLowerCase();
}

const ALL_ENTRIES = /\d+ entries in \d+ memories/;
/** Appears if a page shows the location of memory. */
const MACHINE = /<dt>Database/;
const API = /^\/(api\/|healthz|readyz|version|metrics)/;

function routesOf(method: string): readonly string[] {
  const { routes } = served.server.app;
  const paths = routes.filter((route) => route.method === method && !API.test(route.path));
  return [...new Set(paths.map(({ path }) => path))].sort();
}

// verifies P-alone-pages, P-alone-subjects
describe("Alice's memory", () => {
  it("has a test case for every page", () => {
    expect(routesOf("GET")).toEqual(Object.keys(shown).sort());
    expect(routesOf("POST")).toEqual(Object.keys(sent).sort());
  });

  it("is visible to Alice on the pages where the others look for it", async () => {
    const pages = await Promise.all(
      Object.values(shown)
        .flat()
        .map((path) => visitors.alice.get(path)),
    );
    expect(pages.filter(({ text }) => text.includes("canary")).length).toBeGreaterThan(10);
  });

  it.each(Object.entries(shown))(
    "is not visible to anyone else on %s, and a visit does not change it",
    async (_route, paths) => {
      const before = await hers();
      for (const path of paths) {
        for (const visitor of [visitors.bob, visitors.operator, new PageVisitor(served)]) {
          const { status, text } = await visitor.get(path);
          expect([path, status >= 500]).toEqual([path, false]);
          // The address itself may appear in the page, in a form's target or in a field with the query.
          expect([path, readable(text).includes("canary")]).toEqual([path, false]);
        }
      }
      expect(await hers()).toBe(before);
    },
  );

  it.each(Object.entries(sent))("cannot be changed by anyone else with %s", async (_route, forms) => {
    const before = await hers();
    for (const [path, fields] of forms) {
      for (const visitor of [visitors.bob, visitors.operator]) {
        const { status, text } = await visitor.post(path, fields);
        expect([path, fields, status >= 500]).toEqual([path, fields, false]);
        expect([path, readable(text).includes("canary")]).toEqual([path, false]);
      }
    }
    expect(await hers()).toBe(before);
  });
});

describe("a GET request", () => {
  it("does not change the caller's own memory, whatever its parameters are", async () => {
    const before = await hers();
    for (const path of Object.values(shown).flat()) {
      const { searchParams } = new URL(path, "http://localhost");
      for (const [name, value] of Object.entries({ ...confirm, scope: `key:${CANARY}`, form_token: "x" })) {
        if (!searchParams.has(name)) searchParams.append(name, value);
      }
      await visitors.alice.get(`${path.split("?")[0]}?${searchParams}`);
    }
    expect(await hers()).toBe(before);
  });
});

// verifies P-alone-pages
describe("an operator", () => {
  it("sees who has entries, and how many", async () => {
    const { status, text } = await visitors.operator.get("/callers");
    expect(status).toBe(200);
    for (const name of ["alice", "bob"]) expect(text).toContain(name);
  });

  it("needs the scope admin: without it a caller sees neither other callers nor total sizes", async () => {
    for (const path of ["/callers", "/health", "/growth"]) {
      const { text } = await visitors.bob.get(path);
      const tells = [/alice/, ALL_ENTRIES, MACHINE, /href="\/callers"/].map((pattern) => pattern.test(text));
      expect([path, tells]).toEqual([path, [false, false, false, false]]);
    }
    const seen = (await visitors.operator.get("/health")).text;
    expect([ALL_ENTRIES, MACHINE].map((pattern) => pattern.test(seen))).toEqual([true, true]);
  });
});

describe("a server without a secret", () => {
  // verifies P-alone-pages
  it("still requires a form's token and a same-origin request", async () => {
    const open = await ContextServer.open({ pages: {} });
    const [person, other] = [
      new PageVisitor(open),
      new PageVisitor(open, { Origin: "https://evil.example" }),
    ];
    const { memory } = open.serverContext;
    await memory.storeFact("unknown", { key: "editor", value: "tabs" });
    const preview = (await person.get("/forget?key=editor")).text;
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(preview)?.[1] ?? "";
    const fields = { scope: "key:editor", step: "confirm", revision: field("revision") };
    const form_token = field("form_token");
    expect((await person.send("/forget", fields)).status).toBe(403);
    expect((await person.send("/forget", { ...fields, form_token: "guess" })).status).toBe(403);
    expect((await other.send("/forget", { ...fields, form_token })).status).toBe(403);
    expect(await memory.getFact("unknown", { key: "editor" })).toBeDefined();
    expect((await person.send("/forget", { ...fields, form_token })).status).toBe(303);
    expect(await memory.getFact("unknown", { key: "editor" })).toBeUndefined();
    await open.close();
  });
});
