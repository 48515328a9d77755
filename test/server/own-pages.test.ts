/** The pages of `open`, on a real socket: their codes, whose connections they take, and when they end. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type OwnPages, serveOwnPages } from "../../server/pages/own-pages.ts";
import { unprivilegedFlags, whyNotUnprivileged } from "../run/unprivileged.ts";
import { ContextServer } from "./fixtures/context-server.ts";

const LIFE_MS = 30_000;
const IDLE_MS = 600_000;
const VALUE = "canary: tabs, never spaces";

let served: ContextServer;
let pages: OwnPages;
let thefts: number;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  served = await ContextServer.open();
  const { memory } = served.serverContext;
  await memory.storeFact("main", { key: "editor", value: VALUE });
  await memory.storeFact("other", { key: "theirs", value: "canary of another memory" });
  thefts = 0;
  const onUnexpected = (error: unknown) => served.defects.push(error);
  const onStolen = () => {
    thefts += 1;
  };
  const about = { memory, subject: "main", port: 0, pages: {}, idleMs: IDLE_MS };
  pages = await serveOwnPages({ ...about, onStolen, onUnexpected });
});
afterEach(async () => {
  vi.useRealTimers();
  await pages.close();
  await served.close();
});

/** An address as typed into a browser. */
async function visit(url: string, headers: Readonly<Record<string, string>> = {}) {
  const typed = { "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", Accept: "text/html", ...headers };
  const [answer]: IncomingMessage[] = await once(get(url, { headers: typed }), "response");
  if (answer === undefined) throw new Error("no answer");
  const [cookie = ""] = answer.headers["set-cookie"] ?? [];
  const { statusCode: status, headers: answered } = answer;
  return { status, headers: answered, text: await text(answer), cookie, Cookie: cookie.split(";")[0] ?? "" };
}

const shown = async (Cookie: string) => (await visit(`${pages.url}/`, { Cookie })).text.includes(VALUE);

// verifies P-alone-open
describe("the code of an address", () => {
  it("opens the memory once, and the address that is shown then has none", async () => {
    const { status, headers, cookie, Cookie } = await visit(pages.address(LIFE_MS));
    expect([status, headers.refresh]).toEqual([200, "0; url=/"]);
    expect(cookie).toMatch(/^helmdeck-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect([await shown(Cookie), await shown("")]).toEqual([true, false]);
    for (const path of ["/", "/fact?key=theirs", "/facts?q=canary", "/callers", "/?agent=other"])
      expect((await visit(`${pages.url}${path}`, { Cookie })).text).not.toContain("of another memory");
  });

  it("used twice opens nothing, ends what a thief has opened with it, and is said", async () => {
    const address = pages.address(LIFE_MS);
    const thief = await visit(address);
    expect(await shown(thief.Cookie)).toBe(true);
    const owner = await visit(address);
    expect([owner.status, owner.Cookie, thefts]).toEqual([401, "", 1]);
    expect(owner.text).toMatch(/role="alert"><p>This address was opened before\..*helmdeck-memory open/s);
    expect(await shown(thief.Cookie)).toBe(false);
    expect(await shown((await visit(pages.address(LIFE_MS))).Cookie)).toBe(true);
  });

  it("loaded again by the browser that used it changes nothing", async () => {
    const address = pages.address(LIFE_MS);
    const { Cookie } = await visit(address);
    expect((await visit(address, { Cookie })).status).toBe(200);
    expect([await shown(Cookie), thefts]).toEqual([true, 0]);
  });

  it.each<[string, () => string]>([
    [
      "late",
      () => {
        const address = pages.address(LIFE_MS);
        vi.advanceTimersByTime(LIFE_MS);
        return address;
      },
    ],
    ["guessed", () => `${pages.url}/sign-in/${"A".repeat(43)}`],
    ["cut short", () => pages.address(LIFE_MS).slice(0, -1)],
    ["of the hash that is kept", () => `${pages.url}/sign-in/${"0".repeat(64)}`],
  ])("opens nothing if it is %s", async (_what, addressOf) => {
    const address = addressOf();
    for (const answer of [await visit(address), await visit(address)])
      expect([answer.status, answer.cookie, answer.text.includes("too old, or not one of")]).toEqual([
        401,
        "",
        true,
      ]);
    expect(thefts).toBe(0);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ["an image of another site", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" }],
    ["a frame of another site", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe" }],
    ["a foreign Host", { Host: "evil.example" }],
  ])("is not used up by %s", async (_what, headers) => {
    const address = pages.address(LIFE_MS);
    expect((await visit(address, headers)).status).toBe(403);
    expect((await visit(address)).status).toBe(200);
  });

  it("opens no REST, MCP or metrics, which are not there", async () => {
    const { Cookie } = await visit(pages.address(LIFE_MS));
    for (const path of ["/api/v1/memory/list", "/api/v1/mcp", "/metrics", "/readyz", "/openapi.json"])
      expect((await visit(`${pages.url}${path}`, { Cookie })).status).toBe(404);
  });
});

// verifies P-alone-open
describe.skipIf(whyNotUnprivileged ?? process.platform !== "linux")("another account of the machine", () => {
  /** Statuses of requests by Node as an account without rights. */
  async function asAnother(urls: readonly string[], Cookie = ""): Promise<unknown> {
    const ask = `const ask = (url) => fetch(url, { headers: ${JSON.stringify({ Cookie })} }).then(({ status }) => status);
      console.log(JSON.stringify(await Promise.all(${JSON.stringify(urls)}.map(ask))))`;
    const flags = [...unprivilegedFlags, "--input-type=module", "-e", ask];
    return JSON.parse((await promisify(execFile)(process.execPath, flags)).stdout);
  }

  it("is refused with a code from a process list, which stays the owner's, and with the cookie", async () => {
    const address = pages.address(LIFE_MS);
    const mapped = address.replace("127.0.0.1", "[::ffff:127.0.0.1]");
    expect(await asAnother([address, mapped, `${pages.url}/`])).toEqual([403, 403, 403]);
    const { status, Cookie } = await visit(address);
    expect([status, thefts, await shown(Cookie)]).toEqual([200, 0, true]);
    expect(await asAnother([`${pages.url}/`, `${pages.url}/facts`], Cookie)).toEqual([403, 403]);
  });
});

describe("the pages", () => {
  it("are unused ten minutes after the last request of somebody who is signed in", async () => {
    const onUnused = vi.fn();
    const unused = pages.unused.then(onUnused);
    const { Cookie } = await visit(pages.address(LIFE_MS));
    expect((await visit(`${pages.url}/`, { Cookie })).text).toContain('<body data-alive="/alive">');
    vi.advanceTimersByTime(IDLE_MS - 1);
    expect((await visit(`${pages.url}/alive`, { Cookie })).status).toBe(204);
    vi.advanceTimersByTime(IDLE_MS - 1);
    await visit(`${pages.url}/alive`);
    expect(onUnused).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    await unused;
  });
});
