/** Authentication: tokens like helmdeck's, refusal of forged ones, and the limits of a server without a secret. */
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { appendFile, chmod, mkdtemp, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadTokenRules, revokeTokens, type TokenRules } from "../../server/token-files.ts";
import { mintToken } from "../../server/tokens.ts";
import { ContextServer, NOW, packThat, SECRET, tokenFor } from "./fixtures/context-server.ts";

const SECONDS = NOW / 1_000;
const ROUTE = "/api/v1/memory/facts";

type Claims = Record<string, unknown>;

const good: Claims = { iss: "helmdeck", sub: "alice", exp: SECONDS + 60 };

/** Builds a token by hand, so that every part of it can be wrong. */
function forge(
  claims: Claims,
  header: Claims = { alg: "HS256", typ: "JWT" },
  secret: Uint8Array = SECRET,
): string {
  const signed = `${part(header)}.${part(claims)}`;
  const hash = { HS384: "sha384", HS512: "sha512" }[String(header.alg)] ?? "sha256";
  return `${signed}.${createHmac(hash, secret).update(signed).digest("base64url")}`;
}

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function without(claims: Claims, name: string): Claims {
  return Object.fromEntries(Object.entries(claims).filter(([claim]) => claim !== name));
}

let served: ContextServer;
beforeEach(async () => {
  served = await ContextServer.open({ secret: SECRET });
});
afterEach(() => served.close());

// verifies P-alone-tokens
describe("a server with a secret", () => {
  it("accepts a token in helmdeck's format, and identifies its caller", async () => {
    const caller = served.as(forge({ ...good, name: "Alice", client: "test", scopes: ["admin"] }));
    expect((await caller.get("/api/v1/memory")).body.scope).toBe("caller=alice");
  });

  it("asks for a token if there is none", async () => {
    const { status, headers, body } = await served.as().get(ROUTE);
    expect([status, body.error]).toEqual([401, "missing_bearer"]);
    expect(headers.get("www-authenticate")).toBe('Bearer realm="helmdeck"');
  });

  it.each(["Basic YTpi", "Bearer", "Bearer a b", "Bearer ü", "Token abc"])(
    "refuses the header %s",
    async (authorization) => {
      const response = await served.request(ROUTE, {
        headers: { Authorization: Buffer.from(authorization).toString("latin1") },
      });
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ error: "invalid_token" });
    },
  );

  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const pem = Buffer.from(publicKey.export({ type: "spki", format: "pem" }));
  const rs256 = `${part({ alg: "RS256" })}.${part(good)}`;
  const [head, body, mac] = forge(good).split(".");

  it.each([
    ["without a signature, with alg none", `${part({ alg: "none" })}.${part(good)}.`],
    ["without a signature, with alg NONE", `${part({ alg: "NONE" })}.${part(good)}.`],
    ["whose signature was cut off", `${head}.${body}.`],
    ["signed with HS384", forge(good, { alg: "HS384" })],
    ["signed with HS512", forge(good, { alg: "HS512" })],
    ["signed with RS256", `${rs256}.${sign("sha256", Buffer.from(rs256), privateKey).toString("base64url")}`],
    ["signed with a public key as if it were the secret", forge(good, { alg: "HS256" }, pem)],
    ["signed with another secret", forge(good, { alg: "HS256" }, Buffer.from("x".repeat(32)))],
    ["whose claims were changed", `${head}.${part({ ...good, sub: "bob" })}.${mac}`],
    ["with an extension that must be understood", forge(good, { alg: "HS256", crit: ["x"], x: 1 })],
    ["without an issuer", forge(without(good, "iss"))],
    ["of another issuer", forge({ ...good, iss: "elsewhere" })],
    ["without an expiry", forge(without(good, "exp"))],
    ["that has expired", forge({ ...good, exp: SECONDS - 31 })],
    ["whose expiry is text", forge({ ...good, exp: "tomorrow" })],
    ["that is not valid yet", forge({ ...good, nbf: SECONDS + 31 })],
    ["without a subject", forge(without(good, "sub"))],
    ["with an empty subject", forge({ ...good, sub: "" })],
    ["with a blank subject", forge({ ...good, sub: "  " })],
    ["with a subject that is a number", forge({ ...good, sub: 7 })],
    ["with a subject with a line end", forge({ ...good, sub: "a\nb" })],
    ["with a subject beyond its limit", forge({ ...good, sub: "x".repeat(513) })],
    ["with scopes that are text", forge({ ...good, scopes: "admin" })],
    ["of three dots", "..."],
    ["that is malformed", "abc"],
    ["beyond its limit", "a".repeat(8_193)],
  ])("refuses a token %s", async (_what, token) => {
    const { status, headers, body: answer, text } = await served.as(token).get(ROUTE);
    expect([status, answer.error]).toEqual([401, "invalid_token"]);
    expect(headers.get("www-authenticate")).toMatch(
      /^Bearer realm="helmdeck", error="invalid_token", error_description="The [ !#-[\]-~]+"$/,
    );
    if (token.length > 10) expect(text).not.toContain(token);
  });

  it.each([
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-authorization-server/x",
    "/register",
  ])("answers a client that looks for OAuth at %s what to do instead", async (path) => {
    const { status, body } = await served.as().get(path);
    expect((await served.as("abc").get(path)).body.message).toMatch(/no OAuth\. The token is malformed/);
    expect([status, body]).toMatchObject([
      404,
      { error: "not_found", message: expect.stringMatching(/Bearer/) },
    ]);
  });

  it("checks the validity of a cached token again", async () => {
    let seconds = SECONDS;
    const later = await ContextServer.open({ secret: SECRET, now: () => seconds * 1_000 });
    const token = forge({ ...good, nbf: SECONDS });
    const statusAt = async (at: number) => {
      seconds = at;
      return (await later.as(token).get(ROUTE)).status;
    };
    const times = [0, 1, 89, 90, 89, -30, -31, 0].map((past) => SECONDS + past);
    const statuses: number[] = [];
    for (const at of times) statuses.push(await statusAt(at));
    await later.close();
    expect(statuses).toEqual([200, 200, 200, 401, 200, 200, 401, 200]);
  });

  it("accepts only the identical token from the cache", async () => {
    const taken = forge(good);
    expect((await served.as(taken).get(ROUTE)).status).toBe(200);
    const [header, claims, signature = ""] = taken.split(".");
    const others = [`${header}.${part({ ...good, sub: "bob" })}.${signature}`, `${header}.${claims}.`];
    for (const other of others) expect((await served.as(other).get(ROUTE)).status).toBe(401);
    const changed = await ContextServer.open({
      secret: Buffer.from("another secret of this test, of 32 bytes"),
    });
    expect((await changed.as(taken).get(ROUTE)).status).toBe(401);
    await changed.close();
  });

  it("tolerates a clock difference of thirty seconds", async () => {
    const late = served.as(forge({ ...good, exp: SECONDS - 29 }));
    const early = served.as(forge({ ...good, nbf: SECONDS + 29 }));
    expect([(await late.get(ROUTE)).status, (await early.get(ROUTE)).status]).toEqual([200, 200]);
  });

  it("answers without a token only on its open routes", async () => {
    for (const route of served.server.app.routes.filter(({ method }) => method !== "ALL")) {
      const isOpen = ["/healthz", "/readyz", "/version", "/api/v1/openapi.json"].includes(route.path);
      const { status } = await served.answerTo(route.path, { method: route.method });
      expect([route.path, status]).toEqual([route.path, isOpen ? 200 : 401]);
    }
    expect((await served.as().get("/api/v1/no/such/route")).status).toBe(401);
  });
});

describe("a server without a secret", () => {
  it("serves every client as the caller unknown", async () => {
    const open = await ContextServer.open();
    expect((await open.as().get("/api/v1/memory")).body.scope).toBe("caller=unknown");
    expect((await open.as(await tokenFor("root", ["admin"])).get("/api/v1/memory")).body.scope).toBe(
      "caller=unknown",
    );
    expect((await open.as().get("/api/v1/memory/defaults?caller=alice")).status).toBe(403);
    for (const blank of ["", "%20", "%09"]) {
      const { body } = await open.as().get(`/api/v1/memory/defaults?caller=${blank}`);
      expect(body.scope).toBe("caller=unknown");
    }
    await open.close();
  });

  // verifies P-alone-programs
  it("runs no pack that starts processes, even with a token", async () => {
    let runs = 0;
    const shell = packThat(async () => ({ ran: ++runs }), { startsProcess: true });
    const open = await ContextServer.open({ packs: [shell] });
    for (const caller of [open.as(), open.as(await tokenFor("root", ["admin"]))]) {
      const { status, body } = await caller.post("/api/v1/packs/test.do", {});
      expect([status, body.error]).toEqual([403, "forbidden"]);
    }
    expect(runs).toBe(0);
    const closed = await ContextServer.open({ packs: [shell], secret: SECRET });
    expect((await closed.as(await tokenFor("alice")).post("/api/v1/packs/test.do", {})).status).toBe(200);
    await Promise.all([open.close(), closed.close()]);
  });

  // verifies P-alone-tokens
  it.each(["0.0.0.0", "::", "[::]"])("refuses to listen on %s", async (host) => {
    const open = await ContextServer.open();
    const refused = open.server.listen({ host, port: 0 });
    await expect(refused.finally(() => open.close())).rejects.toMatchObject({ code: "forbidden" });
  });
});

describe("a minted token", () => {
  it("contains the requested claims and no others", async () => {
    const minted = await mintToken(
      SECRET,
      { subject: "alice", ttlSeconds: 60, scopes: ["admin"], name: "Alice", client: "curl" },
      NOW,
    );
    const [header = "", claims = ""] = minted.token.split(".");
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({ alg: "HS256", typ: "JWT" });
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toEqual({
      iss: "helmdeck",
      sub: "alice",
      iat: SECONDS,
      exp: SECONDS + 60,
      scopes: ["admin"],
      name: "Alice",
      client: "curl",
    });
    expect(minted.expiresAt).toBe(NOW + 60_000);
  });

  it.each<[string, number]>([
    ...["", " ", "a\u0000b", "x".repeat(513), "\ud800"].map((subject): [string, number] => [subject, 60]),
    ...[0, -1, 59, 366 * 86_400 + 1, Number.NaN, Number.POSITIVE_INFINITY].map(
      (ttlSeconds): [string, number] => ["alice", ttlSeconds],
    ),
  ])("is not made for the subject %j and %d seconds", async (subject, ttlSeconds) => {
    await expect(mintToken(SECRET, { subject, ttlSeconds }, NOW)).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});

describe("secrets and revocations in files", () => {
  const [old, fresh] = ["the former secret of this test, in use", "the new secret of this test, not in use"];
  let folder: string;
  let time: number;
  let lines: Record<string, unknown>[];
  let changing: ContextServer;
  const env = () => ({
    HELMDECK_JWT_SECRET_FILE: join(folder, "secret"),
    HELMDECK_JWT_REVOKED_FILE: join(folder, "revoked"),
  });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "helmdeck-secrets-"));
    time = NOW;
    lines = [];
    await put("secret", dashed(old));
    await put("revoked", "");
    const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    changing = await ContextServer.open({ secret: rules, now: () => time, log, pages: {} });
  });
  afterEach(async () => {
    await changing.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** A secret in a list has no spaces. */
  const dashed = (secret: string) => secret.replaceAll(" ", "-");

  async function rules(former?: TokenRules) {
    const found = await loadTokenRules(env(), former);
    if (found === undefined) throw new Error("The files are not named.");
    return found;
  }

  /** The files are read again a second later. */
  async function put(name: string, content: string): Promise<void> {
    await writeFile(join(folder, name), content, { mode: 0o600 });
    time += 1_000;
  }

  async function tokenOf(subject: string, secret: string, at = time): Promise<string> {
    return (await mintToken(Buffer.from(dashed(secret)), { subject, ttlSeconds: 3_600 }, at)).token;
  }

  const statusOf = async (token: string) => (await changing.as(token).get(ROUTE)).status;

  // verifies P-alone-tokens
  it("exchanges two secrets without refusing a token, and then refuses those of the removed one", async () => {
    const former = await tokenOf("alice", old);
    const next = await tokenOf("alice", fresh);
    expect([await statusOf(former), await statusOf(next)]).toEqual([200, 401]);
    await put("secret", `${dashed(old)}\n${dashed(fresh)}\n`);
    expect([await statusOf(former), await statusOf(next)]).toEqual([200, 200]);
    await put("secret", `${dashed(fresh)}\n${dashed(old)}\n`);
    expect([await statusOf(former), await statusOf(next)]).toEqual([200, 200]);
    await put("secret", `${dashed(fresh)}\n`);
    expect([await statusOf(former), await statusOf(next)]).toEqual([401, 200]);
  });

  it.each(["\n", "\n\n\n", `\n\n${"a second secret, with spaces".repeat(2)}\n`])(
    "accepts the tokens of a secret with spaces before %j, as while a line is added",
    async (rest) => {
      await put("secret", `${old}${rest}`);
      const { token } = await mintToken(Buffer.from(old), { subject: "alice", ttlSeconds: 60 }, time);
      expect(await statusOf(token)).toBe(200);
    },
  );

  it("takes a secret that is no text as one, whatever line ends are in it", async () => {
    const bytes = Buffer.from(`\xff${old}\n${fresh}`, "latin1");
    await writeFile(join(folder, "secret"), bytes);
    expect((await rules()).secrets.map((secret) => secret.export())).toEqual([bytes]);
  });

  it("counts requests by secret, and lists the tokens in use for an operator, without the tokens", async () => {
    const [former, next] = [await tokenOf("alice", old), await tokenOf("bob", fresh)];
    await put("secret", `${dashed(fresh)}\n${dashed(old)}\n`);
    for (const token of [former, former, next]) await statusOf(token);
    const asked = { subject: "operator", scopes: ["admin"], ttlSeconds: 60 };
    const operator = changing.as((await mintToken(Buffer.from(dashed(fresh)), asked, time)).token);
    const { text } = await operator.get("/metrics");
    expect(text).toContain('helmdeck_token_requests_total{secret="other"} 2');
    expect(text).toContain('helmdeck_token_requests_total{secret="first"} 2');
    const listed = await operator.get("/api/v1/tokens");
    expect(listed.body.tokens).toMatchObject([
      { subject: "alice", secret: 2, scopes: [], last_used_at: new Date(time).toISOString() },
      { subject: "bob", secret: 1 },
      { subject: "operator", secret: 1, scopes: ["admin"] },
    ]);
    expect(listed.text).not.toContain(former.split(".")[2]);
    await revokeTokens(env(), time, "alice");
    time += 1_000;
    expect((await operator.get("/api/v1/tokens")).text).not.toContain("alice");
    expect((await changing.as(next).get("/api/v1/tokens")).status).toBe(403);
    expect(lines.filter(({ msg }) => msg !== "request")).toEqual([]);
  });

  // verifies P-alone-tokens
  it("refuses tokens of a subject that were made until a time, and accepts its later ones and those of others", async () => {
    const [stolen, others] = [await tokenOf("alice", old), await tokenOf("bob", old)];
    expect([await statusOf(stolen), await statusOf(others)]).toEqual([200, 200]);
    await revokeTokens(env(), time, "alice");
    const later = await tokenOf("alice", old, time + 1);
    time += 1_000;
    expect([await statusOf(stolen), await statusOf(others), await statusOf(later)]).toEqual([401, 200, 200]);
    expect((await changing.as(stolen).get(ROUTE)).body.message).toContain("was revoked");
    await revokeTokens(env(), time);
    time += 1_000;
    expect([await statusOf(others), await statusOf(later)]).toEqual([401, 401]);
  });

  // verifies P-alone-tokens
  it("refuses a revoked subject's token that does not say when it was made", async () => {
    const token = forge({ ...good, exp: time + 60 }, undefined, Buffer.from(dashed(old)));
    expect(await statusOf(token)).toBe(200);
    await revokeTokens(env(), 0, "alice");
    time += 1_000;
    expect(await statusOf(token)).toBe(401);
  });

  // verifies P-alone-pages
  it("ends the session of a revoked token on the pages", async () => {
    const token = await tokenOf("alice", old);
    const form = { method: "POST", body: new URLSearchParams({ token }), redirect: "manual" as const };
    const headers = { Origin: "http://localhost", Host: "localhost" };
    const signedIn = await changing.request("/sign-in", { ...form, headers });
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const statusOfPage = async () => (await changing.request("/", { headers: { cookie } })).status;
    expect(await statusOfPage()).toBe(200);
    await revokeTokens(env(), time, "alice");
    time += 1_000;
    expect(await statusOfPage()).toBe(401);
  });

  it.each<[string, string, string, number]>([
    ["a secret that is too short", "secret", "short\nshort", 0o600],
    ["a line that is not a revocation", "revoked", "yesterday alice", 0o600],
    ["a list that others can change", "revoked", "", 0o666],
  ])(
    "keeps what it read before while a file has %s, and says so once",
    async (_what, name, content, mode) => {
      const token = await tokenOf("alice", old);
      expect(await statusOf(token)).toBe(200);
      await put(name, content);
      await chmod(join(folder, name), mode);
      for (let i = 0; i < 3; i += 1) {
        expect(await statusOf(token)).toBe(200);
        time += 1_000;
      }
      const problems = lines.filter(({ level }) => level === 50);
      expect(problems).toMatchObject([{ code: expect.stringMatching(/^key_(malformed|unreadable)$/) }]);
      expect(JSON.stringify(problems)).not.toContain("yesterday");
    },
  );

  // verifies P-alone-tokens
  it.each<[string, (list: string) => string | undefined]>([
    ["is empty", () => ""],
    ["lacks its last line", (list) => list.replace(/.*\n$/, "")],
    ["ends within a time", (list) => list.slice(0, 12)],
    ["ends within a subject", (list) => list.slice(0, list.indexOf("mallory") + 3)],
    ["ends after a time", (list) => list.slice(0, list.indexOf(" mallory"))],
    ["is another whole list", () => "2026-11-20T12:00:00Z dora\n"],
    ["is gone", () => undefined],
  ])("revokes what it did while the list %s, says so once, and goes on when it is whole", async (_, cut) => {
    for (const subject of ["mallory", "carol"]) await revokeTokens(env(), time, subject);
    const [revoked, later] = [await tokenOf("carol", old), await tokenOf("bob", old)];
    const others = await Promise.all(["alice", "mal", "mallory"].map((name) => tokenOf(name, old, time + 1)));
    time += 1_000;
    expect([await statusOf(revoked), await statusOf(later)]).toEqual([401, 200]);
    const list = await readFile(join(folder, "revoked"), "utf8");
    for (let i = 0; i < 3; i += 1) {
      const content = cut(list);
      if (content === undefined) await rm(join(folder, "revoked"), { force: true });
      await put("revoked", content ?? list);
      if (content === undefined) await rm(join(folder, "revoked"));
      expect(await statusOf(revoked)).toBe(401);
      await put("revoked", list);
      expect(await Promise.all([revoked, ...others].map(statusOf))).toEqual([401, 200, 200, 200]);
    }
    expect(lines.filter(({ level }) => level === 50)).toMatchObject([
      { problem: expect.stringContaining("lacks lines") },
    ]);
    await put("revoked", "");
    await revokeTokens(env(), time, "bob");
    time += 1_000;
    expect(await statusOf(later)).toBe(401);
  });

  // verifies P-alone-tokens
  it("never accepts a revoked token while the list is rewritten in any way", async () => {
    const path = join(folder, "revoked");
    for (let i = 0; i < 50; i += 1) await revokeTokens(env(), time, `agent-${i}`);
    const list = await readFile(path);
    const revoked = await tokenOf("agent-49", old);
    time += 1_000;
    expect(await statusOf(revoked)).toBe(401);
    let isOver = false;
    const ways: readonly (() => Promise<void>)[] = [
      () => writeFile(path, list), // truncates first
      async () => {
        await writeFile(`${path}.new`, list, { mode: 0o600 });
        await rename(`${path}.new`, path);
      },
      async () => {
        await rm(path);
        for (let at = 0; at < list.length; at += 333)
          await appendFile(path, list.subarray(at, at + 333), { mode: 0o600 });
      },
      () => truncate(path, list.length / 2),
    ];
    const rewriting = (async () => {
      while (!isOver) for (const rewrite of ways) await rewrite();
    })();
    const statuses = new Set<number>();
    for (let i = 0; i < 500; i += 1) {
      time += 1_000; // each request reads the list
      statuses.add(await statusOf(revoked));
    }
    isOver = true;
    await rewriting;
    expect([...statuses]).toEqual([401]);
    expect(lines.filter(({ level }) => level === 50).length).toBeLessThanOrEqual(2);
  });

  // verifies P-alone-tokens
  it("takes the other lines of a list with one that it does not understand", async () => {
    const tokens = await Promise.all(["alice", "bob"].map((name) => tokenOf(name, old)));
    expect(await Promise.all(tokens.map(statusOf))).toEqual([200, 200]);
    const wrong = ["\u2028", "a\u2028b", "x".repeat(600), "m\xfcller", "alice ", " alice"];
    for (const subject of wrong) {
      const list = `2026-11-20T12:00:00Z ${subject}\n${new Date(time).toISOString()} bob\n`;
      await writeFile(
        join(folder, "revoked"),
        Buffer.from(list, subject === "m\xfcller" ? "latin1" : "utf8"),
      );
      time += 61_000;
      expect(await Promise.all(tokens.map(statusOf))).toEqual([200, 401]);
      await expect(rules()).rejects.toMatchObject({ code: "key_malformed" });
    }
    const problems = lines.filter(({ problem }) => String(problem).startsWith("Line 1 of"));
    expect(problems.length).toBe(wrong.length);
  });

  // verifies P-alone-tokens
  it.each<[string, (secrets: string) => string, string]>([
    ["is empty", () => "", "needs 32"],
    ["ends within its last secret", (secrets) => secrets.slice(0, -3), "was cut short"],
    ["ends within its first secret", () => dashed(old).slice(0, 33), "was cut short"],
  ])("keeps the secrets while their file %s, and still revokes", async (_, cut, problem) => {
    const secrets = `${dashed(old)}\n${dashed(fresh)}\n`;
    await put("secret", secrets);
    const [one, two] = [await tokenOf("alice", old), await tokenOf("bob", fresh)];
    expect([await statusOf(one), await statusOf(two)]).toEqual([200, 200]);
    await put("secret", cut(secrets));
    await revokeTokens(env(), time, "bob");
    time += 1_000;
    expect([await statusOf(one), await statusOf(two)]).toEqual([200, 401]);
    expect(lines.filter(({ level }) => level === 50)).toMatchObject([
      { problem: expect.stringContaining(problem) },
    ]);
  });

  it("appends a revocation after a line without an end, and to no list that servers refuse", async () => {
    await put("revoked", "2026-11-20T12:00:00Z bob");
    await revokeTokens(env(), NOW + 5, "alice in wonderland");
    const found = (await loadTokenRules(env()))?.revocations;
    expect(found?.cover({ subject: "bob", issued: NOW })).toBe(true);
    expect(found?.cover({ subject: "alice in wonderland", issued: NOW + 5 })).toBe(true);
    expect(found?.cover({ subject: "alice in wonderland", issued: NOW + 6 })).toBe(false);
    for (const list of ["no list", `${"2026-11-20T12:00:00Z bob\n".repeat(41_943)}`]) {
      await put("revoked", list);
      await expect(revokeTokens(env(), NOW)).rejects.toMatchObject({ code: "key_malformed" });
      expect(await readFile(join(folder, "revoked"), "utf8")).toBe(list);
    }
  });
});

describe("the secret", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "helmdeck-secret-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function file(content: string, mode = 0o600): Promise<string> {
    const path = join(folder, "secret");
    await writeFile(path, content);
    await chmod(path, mode);
    return path;
  }

  it("is the raw bytes of the variable, or of the file without its line end", async () => {
    const text = "ü".repeat(16);
    const path = await file(`${text}\n`);
    const fromVariable = await loadTokenRules({ HELMDECK_JWT_SECRET: text });
    const fromFile = await loadTokenRules({ HELMDECK_JWT_SECRET_FILE: path });
    for (const found of [fromVariable, fromFile]) {
      expect(found?.secrets.map((secret) => secret.export().toString())).toEqual([text]);
    }
    expect([fromVariable?.source, fromFile?.source]).toEqual(["HELMDECK_JWT_SECRET", path]);
    expect(await loadTokenRules({})).toBeUndefined();
  });

  it("is refused below 32 bytes and from an empty variable, and is not shown", async () => {
    const short = "only-thirty-one-bytes-of-secret";
    for (const env of [
      { HELMDECK_JWT_SECRET: short },
      { HELMDECK_JWT_SECRET: "" },
      { HELMDECK_JWT_SECRET_FILE: await file(`${short}\n`) },
    ]) {
      const refusal = await loadTokenRules(env).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ code: "key_malformed" });
      expect(String(refusal)).not.toContain(short);
    }
  });

  it.each([0o640, 0o604, 0o644, 0o620])("is refused from a file of mode %o", async (mode) => {
    const path = await file("x".repeat(32), mode);
    await expect(loadTokenRules({ HELMDECK_JWT_SECRET_FILE: path })).rejects.toMatchObject({
      code: "key_unreadable",
      message: expect.stringContaining("chmod 600"),
    });
  });

  it("is refused from a missing file, from a folder, and if both sources are set", async () => {
    const refused = (env: Record<string, string>) =>
      expect(loadTokenRules(env)).rejects.toMatchObject({ name: "HelmdeckError" });
    await refused({ HELMDECK_JWT_SECRET_FILE: join(folder, "none") });
    await refused({ HELMDECK_JWT_SECRET_FILE: folder });
    await refused({
      HELMDECK_JWT_SECRET: "x".repeat(32),
      HELMDECK_JWT_SECRET_FILE: await file("x".repeat(32)),
    });
  });
});
