/** The pages of `serve`: sign-in and sign-out, sessions, and protection against other sites. */
import pino from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mintToken } from "../../server/tokens.ts";
import { ContextServer, NOW, SECRET, tokenFor } from "./fixtures/context-server.ts";
import { ORIGIN, PageVisitor } from "./fixtures/page-visitor.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const PUBLIC = "https://deck.example";
const SESSION = "helmdeck-80";

let now: number;
let logged: string[];
let served: ContextServer;
beforeEach(async () => {
  now = NOW;
  logged = [];
  served = await ContextServer.open({
    secret: SECRET,
    publicOrigin: PUBLIC,
    pages: {},
    now: () => now,
    log: pino({ level: "debug" }, { write: (line) => void logged.push(line) }),
  });
});
afterEach(() => served.close());

async function visitor(subject = "alice", scopes: readonly string[] = []): Promise<PageVisitor> {
  return PageVisitor.of(served, await tokenFor(subject, scopes));
}

function isSignIn({ status, text }: { readonly status: number; readonly text: string }): boolean {
  return status === 401 && text.includes('name="token"');
}

describe("signing in", () => {
  it("is required on every page, with a form that explains how to get a token", async () => {
    const { status, headers, text } = await new PageVisitor(served).get("/");
    expect(status).toBe(401);
    expect(headers.get("content-type")).toMatch(/^text\/html/);
    expect(text).toMatch(/<form [^>]*method="post" action="\/sign-in">/);
    expect(text).toMatch(/<label for="token">.*<input id="token" name="token" type="password"/s);
    expect(text).toContain("helmdeck-memory token --subject");
  });

  it("opens the memory of the token's subject", async () => {
    await served.serverContext.memory.storeFact("alice", { key: "editor", value: "tabs, never spaces" });
    const alice = new PageVisitor(served);
    const { status, headers } = await alice.signIn(await tokenFor("alice"));
    expect([status, headers.get("location")]).toEqual([303, "/"]);
    expect((await alice.get("/")).text).toContain("editor");
    expect(isSignIn(await new PageVisitor(served).get("/"))).toBe(true);
  });

  it("sets a session cookie that no script, other site or other path can read", async () => {
    const { headers } = await new PageVisitor(served).signIn(await tokenFor("alice"));
    const [cookie, ...more] = headers.getSetCookie();
    expect(more).toEqual([]);
    expect(cookie).toMatch(/^helmdeck-80=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  it("sets a __Host- cookie if browsers connect over TLS, and then accepts no other", async () => {
    const Host = new URL(PUBLIC).host;
    const byTls = new PageVisitor(served, { Origin: PUBLIC, "Sec-Fetch-Site": "same-origin", Host });
    const { headers } = await byTls.signIn(await tokenFor("alice"));
    const [cookie = ""] = headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-helmdeck=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
    expect((await byTls.get("/", { Host })).status).toBe(200);
    const id = byTls.cookies.get("__Host-helmdeck") ?? "";
    for (const name of [SESSION, "helmdeck-443", "helmdeck"]) {
      const answer = await new PageVisitor(served).get("/", { Host, Cookie: `${name}=${id}` });
      expect(isSignIn(answer)).toBe(true);
    }
  });

  it.each([
    ["that is empty", async () => ""],
    ["that is malformed", async () => "canary-token"],
    [
      "of another server",
      async () => (await mintToken(Buffer.alloc(32, 7), { subject: "alice", ttlSeconds: 60 }, NOW)).token,
    ],
    [
      "that has expired",
      async () => (await mintToken(SECRET, { subject: "alice", ttlSeconds: 60 }, NOW - MINUTE)).token,
    ],
  ])("with a token %s is refused, and the page does not show it", async (_what, made) => {
    const token = await made();
    const { status, headers, text } = await new PageVisitor(served).signIn(token);
    expect([status, headers.getSetCookie()]).toEqual([401, []]);
    expect(text).toMatch(/role="alert"><p>The token [^<]+helmdeck-memory token --subject/);
    if (token !== "") expect(text).not.toContain(token);
  });

  it("accepts a token with blanks and line ends added by copying", async () => {
    const { status } = await new PageVisitor(served).signIn(` ${await tokenFor("alice")}\n`);
    expect(status).toBe(303);
  });

  it("accepts no earlier id, against session fixation", async () => {
    const alice = await visitor("alice");
    const [planted = ""] = alice.cookies.values();
    await alice.signIn(await tokenFor("bob"));
    expect(alice.cookies.get(SESSION)).not.toBe(planted);
    expect(isSignIn(await new PageVisitor(served).get("/", { Cookie: `${SESSION}=${planted}` }))).toBe(true);
    const unknown = "A".repeat(43);
    const victim = new PageVisitor(served);
    victim.cookies.set(SESSION, unknown);
    await victim.signIn(await tokenFor("alice"));
    expect(victim.cookies.get(SESSION)).not.toBe(unknown);
    expect(isSignIn(await new PageVisitor(served).get("/", { Cookie: `${SESSION}=${unknown}` }))).toBe(true);
  });

  it("lasts at most an hour without a request, twelve hours in total, and as long as the token", async () => {
    const [idle, busy] = [await visitor(), new PageVisitor(served)];
    await busy.signIn((await mintToken(SECRET, { subject: "alice", ttlSeconds: 86_400 }, NOW)).token);
    for (let asked = 0; asked < 23; asked += 1) {
      now += 30 * MINUTE;
      expect((await busy.get("/")).status).toBe(200);
    }
    expect(isSignIn(await idle.get("/"))).toBe(true);
    now += 30 * MINUTE;
    expect(isSignIn(await busy.get("/"))).toBe(true);
  });

  it("lasts only as long as the token, even if that is short-lived", async () => {
    const alice = new PageVisitor(served);
    await alice.signIn((await mintToken(SECRET, { subject: "alice", ttlSeconds: 300 }, NOW)).token);
    now += 5 * MINUTE - 1;
    expect((await alice.get("/")).status).toBe(200);
    now += 1;
    expect(isSignIn(await alice.get("/"))).toBe(true);
  });

  it("in a seventeenth browser ends the least recently used session", async () => {
    const browsers: PageVisitor[] = [];
    for (let n = 0; n < 17; n += 1) browsers.push(await visitor());
    const statuses = await Promise.all(browsers.map(async (one) => (await one.get("/")).status));
    expect(statuses).toEqual([401, ...Array.from({ length: 16 }, () => 200)]);
  });

  it("is shown again on a reload of the sign-in address", async () => {
    const { status, headers } = await new PageVisitor(served).get("/sign-in");
    expect([status, headers.get("location")]).toEqual([303, "/"]);
  });
});

describe("wrong tokens", () => {
  it("count towards the address's limit, as on REST, and do not block signed-in people", async () => {
    const limited = await ContextServer.open({ secret: SECRET, pages: {}, requestsPerMinute: 3 });
    const listening = await limited.server.listen({ port: 0 });
    const Origin = listening.url;
    const over = {
      answerTo: async (path: string, init?: RequestInit) => {
        const response = await fetch(`${listening.url}${path}`, { redirect: "manual", ...init });
        return { status: response.status, headers: response.headers, text: await response.text(), body: {} };
      },
    };
    const here = { Origin, "Sec-Fetch-Site": "same-origin" };
    const alice = new PageVisitor(over, here);
    await alice.signIn(await tokenFor("alice"));
    const guesser = new PageVisitor(over, here);
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await guesser.signIn(`guess ${n}`)).status);
    expect(statuses).toEqual([401, 401, 429, 429]);
    expect((await guesser.get("/")).status).toBe(429);
    expect((await alice.get("/")).status).toBe(200);
    expect(
      (await new PageVisitor(over, here).get("/", { Cookie: `helmdeck-${listening.port}=guess` })).status,
    ).toBe(429);
    await listening.close();
    await limited.close();
  });
});

describe("signing out", () => {
  it("ends this session on the server, and no other", async () => {
    const [alice, elsewhere] = [await visitor(), await visitor()];
    const [id = ""] = alice.cookies.values();
    const { status, headers } = await alice.post("/sign-out", {});
    expect([status, headers.get("location")]).toEqual([303, "/"]);
    expect(headers.getSetCookie()).toEqual([`${SESSION}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict`]);
    expect(isSignIn(await new PageVisitor(served).get("/", { Cookie: `${SESSION}=${id}` }))).toBe(true);
    expect((await elsewhere.get("/")).status).toBe(200);
  });

  it("cannot be done by a link", async () => {
    const alice = await visitor();
    expect((await alice.get("/sign-out")).status).toBe(405);
    expect((await alice.get("/")).status).toBe(200);
  });
});

// verifies P-alone-pages, P-alone-web-page
describe("a form", () => {
  let alice: PageVisitor;
  beforeEach(async () => {
    alice = await visitor();
  });

  function withCookies(headers: Readonly<Record<string, string>>): PageVisitor {
    const visitor = new PageVisitor(served, headers);
    for (const [name, value] of alice.cookies) visitor.cookies.set(name, value);
    return visitor;
  }

  /** The tests send the form for signing out, because every page has it and it changes something. */
  async function isStillSignedIn(): Promise<boolean> {
    return (await alice.get("/")).status === 200;
  }

  it.each([
    ["without a form token", () => ({})],
    ["with an empty form token", () => ({ form_token: "" })],
    ["with an invalid form token", () => ({ form_token: "canary" })],
  ])("%s changes nothing", async (_what, fields) => {
    const { status, text } = await alice.send("/sign-out", fields());
    expect([status, text.includes("canary")]).toEqual([403, false]);
    expect(await isStillSignedIn()).toBe(true);
  });

  it("with another session's form token changes nothing, not even with one of the same caller", async () => {
    for (const other of [await visitor("bob"), await visitor("alice")]) {
      const { status } = await alice.send("/sign-out", { form_token: await other.formToken() });
      expect(status).toBe(403);
    }
    expect(await isStillSignedIn()).toBe(true);
  });

  it("with its token twice changes nothing", async () => {
    const token = await alice.formToken();
    const fields = new URLSearchParams([
      ["form_token", token],
      ["form_token", token],
    ]);
    expect((await alice.send("/sign-out", fields)).status).toBe(403);
    expect(await isStillSignedIn()).toBe(true);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ["of another site", { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" }],
    ["of another port of this machine", { Origin: "http://localhost:4000", "Sec-Fetch-Site": "same-site" }],
    ["of another site, without Sec-Fetch-Site", { Origin: "https://evil.example", "Sec-Fetch-Site": "" }],
    ["of another site, with the origin null", { Origin: "null", "Sec-Fetch-Site": "cross-site" }],
    ["with the origin null, without Sec-Fetch-Site", { Origin: "null", "Sec-Fetch-Site": "" }],
    ["with neither Origin nor Sec-Fetch-Site", { Origin: "", "Sec-Fetch-Site": "" }],
    ["of another site, with a same-origin Sec-Fetch-Site", { Origin: "https://evil.example" }],
    ["of the same host with another scheme", { Origin: "https://localhost" }],
    ["of the public name, sent to another name", { Origin: PUBLIC }],
  ])("%s changes nothing, although everything else is valid", async (_what, headers) => {
    const form_token = await alice.formToken();
    const given = Object.fromEntries(Object.entries({ ...headers }).filter(([, value]) => value !== ""));
    const left = withCookies(given);
    const answer = await left.send("/sign-out", { form_token }, headers.Origin === "" ? {} : given);
    expect(answer.status).toBe(403);
    expect(await isStillSignedIn()).toBe(true);
    // It does not sign anybody in either.
    const signedIn = await new PageVisitor(served, given).send("/sign-in", {
      token: await tokenFor("mallory"),
    });
    expect([signedIn.status, signedIn.headers.getSetCookie()]).toEqual([403, []]);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ["that sends only Sec-Fetch-Site", { "Sec-Fetch-Site": "same-origin" }],
    ["that sends only Origin", { Origin: ORIGIN }],
  ])("of a browser %s is accepted", async (_what, headers) => {
    const form_token = await alice.formToken();
    expect((await withCookies(headers).send("/sign-out", { form_token })).status).toBe(303);
  });

  it("of an expired session reports that nothing was changed", async () => {
    const form_token = await alice.formToken();
    now += HOUR;
    const answer = await alice.send("/sign-out", { form_token });
    expect(isSignIn(answer)).toBe(true);
    expect(answer.text).toContain("nothing was changed");
  });

  it.each<[string, () => Promise<string> | string, number]>([
    [
      "of an expired session",
      async () => {
        const token = await alice.formToken();
        now += HOUR;
        return token;
      },
      401,
    ],
    ["of another session", () => "canary-token", 403],
  ])("%s returns the submitted text, so that it can be copied", async (_what, tokenOf, expected) => {
    const form_token = await tokenOf();
    const typed = { key: "k", value: "An hour's work,\n<b>kept</b>.", tags: "t", step: "preview" };
    const { status, text } = await alice.send("/remember", { form_token, ...typed });
    expect(status).toBe(expected);
    expect(text).toMatch(
      /<textarea id="typed-value"[^>]*>\nAn hour&#39;s work,\n&lt;b&gt;kept&lt;\/b&gt;\.<\/textarea>/,
    );
    expect(text).not.toContain(form_token);
  });

  it("sent by another site gets no content back", async () => {
    const evil = new PageVisitor(served, { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" });
    expect((await evil.send("/remember", { value: "canary" })).text).not.toContain("canary");
  });

  it.each(["application/json", "text/plain", "multipart/form-data; boundary=x"])(
    "of type %s is refused",
    async (type) => {
      const { status } = await alice.post("/sign-out", {}, { "Content-Type": type });
      expect(status).toBe(415);
      expect(await isStillSignedIn()).toBe(true);
    },
  );

  it("that is not percent-encoded UTF-8, or beyond the limit, is refused", async () => {
    const form_token = await alice.formToken();
    const headers = { "Content-Type": "application/x-www-form-urlencoded", Origin: ORIGIN };
    const send = (body: string) =>
      served.answerTo("/sign-out", {
        method: "POST",
        headers: { ...headers, Cookie: `${SESSION}=${alice.cookies.get(SESSION)}` },
        body: `form_token=${form_token}&x=${body}`,
      });
    expect((await send("%FF")).status).toBe(400);
    expect((await send("x".repeat(512 * 1_024))).status).toBe(413);
    expect(await isStillSignedIn()).toBe(true);
  });
});

// verifies P-alone-pages, P-alone-web-page
describe("a page", () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ["a frame", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe" }],
    ["a picture", { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image" }],
    [
      "a script",
      { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", Origin: "http://localhost:4000" },
    ],
  ])(
    "is not served as %s of another site, so that its content cannot be measured",
    async (_what, headers) => {
      const alice = await visitor();
      expect((await alice.get("/?q=canary", headers)).status).toBe(403);
    },
  );

  it("opens from a link on another site, and from a typed address", async () => {
    const alice = await visitor();
    const link = {
      "Sec-Fetch-Site": "cross-site",
      "Sec-Fetch-Mode": "navigate",
      "Sec-Fetch-Dest": "document",
    };
    expect((await alice.get("/", link)).status).toBe(200);
    expect((await alice.get("/", { "Sec-Fetch-Site": "none" })).status).toBe(200);
  });

  it("is not served under an unknown host name", async () => {
    const alice = await visitor();
    for (const path of ["/", "/sign-in"]) {
      expect((await alice.get(path, { Host: "evil.example" })).status).toBe(403);
    }
  });

  it("forbids caches, frames and referrers", async () => {
    const alice = await visitor();
    for (const [who, path] of [
      [alice, "/"],
      [new PageVisitor(served), "/"],
      [alice, "/no/such/page"],
    ] as const) {
      const { headers } = await who.get(path);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("content-security-policy")).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(headers.get("content-security-policy")).not.toContain("unsafe");
      expect(headers.get("referrer-policy")).toMatch(/^(same-origin|no-referrer)$/);
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it("answers HEAD without a body", async () => {
    const alice = await visitor();
    const head = { method: "HEAD", headers: { Cookie: `${SESSION}=${alice.cookies.get(SESSION)}` } };
    const { status, text, headers } = await served.answerTo("/", head);
    expect([status, text, headers.get("content-type")]).toEqual([
      200,
      "",
      expect.stringMatching(/^text\/html/),
    ]);
  });

  it("that does not exist gives browsers an HTML page, and other clients JSON", async () => {
    const { status, text, headers } = await new PageVisitor(served).get("/no/such/page");
    expect([status, headers.get("content-type")]).toEqual([404, expect.stringMatching(/^text\/html/)]);
    expect(text).toContain("There is no such page");
    for (const path of ["/no/such/page", "/api/v1/no/such/route"]) {
      expect((await served.as(await tokenFor("alice")).get(path)).body.error).toBe("not_found");
    }
    const api = await new PageVisitor(served).get("/api/v1/no/such/route");
    expect([api.status, api.body.error]).toEqual([401, "missing_bearer"]);
  });
});

// verifies P-alone-pages
describe("a session", () => {
  it("is not accepted on REST and MCP", async () => {
    const Cookie = `${SESSION}=${(await visitor()).cookies.get(SESSION)}`;
    for (const route of served.server.app.routes) {
      if (!route.path.startsWith("/api/v1/") || route.method === "ALL") continue;
      if (route.path === "/api/v1/openapi.json") continue;
      const { status, body } = await served.answerTo(route.path, {
        method: route.method,
        headers: { Cookie, "Sec-Fetch-Site": "same-origin" },
      });
      expect([route.path, status, body.error]).toEqual([route.path, 401, "missing_bearer"]);
    }
    expect((await served.answerTo("/metrics", { headers: { Cookie } })).status).toBe(401);
  });

  it("is not started by a bearer token", async () => {
    const Authorization = `Bearer ${await tokenFor("alice")}`;
    const answer = await new PageVisitor(served).get("/", { Authorization });
    expect(isSignIn(answer)).toBe(true);
    expect(answer.headers.getSetCookie()).toEqual([]);
    const posted = await new PageVisitor(served).send("/sign-out", {}, { Authorization });
    expect(isSignIn(posted)).toBe(true);
  });
});

describe("logs and metrics", () => {
  // verifies P-quiet-words
  it("contain no query, no token, no form token and no session", async () => {
    const alice = await visitor("canary-subject");
    const secrets = [await alice.formToken(), ...alice.cookies.values(), await tokenFor("canary-subject")];
    await alice.get("/?q=canary-words");
    await alice.get("/canary-page?q=canary-words");
    await new PageVisitor(served).signIn("canary-token");
    await alice.send("/sign-out", { form_token: "canary-form-token" });
    const metrics = await served.as(await tokenFor("prometheus", ["metrics"])).get("/metrics");
    expect(logged.join("")).toMatch(/"route":"\/sign-in".*"status":401/);
    expect(metrics.text).toMatch(/route="\/sign-in",status="401"/);
    for (const text of [logged.join(""), metrics.text]) {
      expect(text.toLowerCase()).not.toContain("canary");
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
  });
});

describe("a defect in a page", () => {
  it("is shown without its text, counted and reported", async () => {
    const broken = await ContextServer.open({
      pages: {},
      change: (context) => ({
        ...context,
        memory: { ...context.memory, listFacts: () => Promise.reject(new TypeError("canary of a defect")) },
      }),
    });
    const { status, text } = await new PageVisitor(broken).get("/facts");
    expect([status, text.includes("canary")]).toEqual([500, false]);
    expect(broken.defects.splice(0)).toMatchObject([{ message: "canary of a defect" }]);
    const metrics = await broken.as().get("/metrics");
    expect(metrics.text).toContain('helmdeck_unexpected_errors_total{kind="TypeError"} 1');
    await broken.close();
  });
});

describe("pages without a secret", () => {
  let open: ContextServer;
  beforeEach(async () => {
    open = await ContextServer.open({ pages: {} });
  });
  afterEach(() => open.close());

  it("show the caller unknown, without a sign-in and without a cookie", async () => {
    await open.serverContext.memory.storeFact("unknown", { key: "editor", value: "tabs" });
    await open.serverContext.memory.storeFact("alice", { key: "hers", value: "secret plans" });
    const { status, text, headers } = await new PageVisitor(open).get("/");
    expect([status, headers.getSetCookie()]).toEqual([200, []]);
    expect(text).toContain("editor");
    expect(text).not.toContain("hers");
    for (const path of ["/sign-in", "/sign-out"]) {
      expect((await new PageVisitor(open, {}).send(path, {})).status).toBe(400); // as for any REST address
    }
  });
});

describe("a server without pages", () => {
  it("serves nothing at /", async () => {
    const without = await ContextServer.open({ secret: SECRET });
    const visitor = new PageVisitor(without);
    for (const answer of [
      await visitor.get("/"),
      await visitor.send("/sign-in", { token: await tokenFor("alice") }),
    ]) {
      expect([403, 401]).toContain(answer.status);
      expect(answer.headers.get("content-type")).toBe("application/json");
    }
    await without.close();
  });
});
