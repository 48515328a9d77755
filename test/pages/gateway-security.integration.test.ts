/** The tab "Agent memory" under attack: by stored text, by unauthorized requests, and by other sites in the operator's browser. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { startSite, useBrowser, whyNoBrowser } from "./browser.ts";
import {
  GATEWAY_WITHIN_MS,
  HOSTS_OWN_TROUBLES,
  openTab,
  PAGES,
  signIn,
  startGateway,
  store,
} from "./control-ui.ts";

const PLAIN_VALUE = "The kettle is descaled on Mondays.";
const WORKS_KEY = "office/door";
const WORKS_VALUE = "The office door opens at seven.";
const RUN = "document.title='ran'";
const HOSTILE_VALUES = [
  `<script>${RUN}</script>`,
  `<img src="http://elsewhere.example/leak.png" onerror="${RUN}">`,
  `"><svg onload=${RUN}>' onmouseover='${RUN}`,
  `</pre></code></title></textarea></style><iframe src="javascript:${RUN}"></iframe>`,
  `[see](javascript:${RUN}) http://elsewhere.example/?leak <a href="//elsewhere.example">here</a>`,
  `<base href="http://elsewhere.example/"><meta http-equiv="refresh" content="0;url=http://elsewhere.example/">`,
  "<b>".repeat(Math.floor(65_536 / 3)),
];
const HOSTILE_KEYS = [
  `<img src=x onerror=${RUN}>`,
  `"><script>${RUN}</script>`,
  "../../work/office/door",
  "a&agent=work?b#c%2e%2e%2f",
  `javascript:${RUN}`,
  "'; $(touch ran) `touch ran` --",
  "//elsewhere.example/x",
];
/** SIGUSR2 moves the gateway's clock six minutes ahead, which is longer than the lifetime of the host's cookie for a frame. */
const CLOCK_AHEAD =
  "let ahead = 0; const { now } = Date; Date.now = () => now() + ahead; process.on('SIGUSR2', () => { ahead = 360_000; });";
/** Elements that would exist if a stored text had become part of the page. */
const FOREIGN = [
  ...["img", "iframe", "object", "embed", "base", "script", "[onerror]", "[onload]", "[onmouseover]"],
  ...['[href^="javascript:"]', '[href^="//"]', '[href^="http"]'],
].map((selector) => `main ${selector}`);

// verifies P-alone-tab
describe.skipIf(whyNoBrowser)("the tab Agent memory under attack", { timeout: GATEWAY_WITHIN_MS }, () => {
  let gateway: OpenClawHost;
  let context: BrowserContext;
  let page: Page;
  let cookie = "";
  const sites = useOtherSite();
  const browser = useBrowser({
    origins: () => [gateway.url, ...sites.origins()],
    ignored: HOSTS_OWN_TROUBLES,
  });

  beforeAll(async () => {
    const preload = `data:text/javascript,${encodeURIComponent(CLOCK_AHEAD)}`;
    gateway = await startGateway({ env: { NODE_OPTIONS: `--import=${preload}` } });
    await store(gateway, "main", { key: "kettle", value: PLAIN_VALUE });
    await store(gateway, "work", { key: WORKS_KEY, value: WORKS_VALUE });
    for (const [at, value] of HOSTILE_VALUES.entries()) {
      await store(gateway, "main", { key: `hostile/${at}`, value });
    }
    for (const key of HOSTILE_KEYS) await store(gateway, "main", { key, value: `hostile: ${key}` });
    context = await browser.newContext();
    page = await signIn(context, gateway);
    await openTab(page);
    const cookies = await context.cookies(`${gateway.url}${PAGES}`);
    cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  }, GATEWAY_WITHIN_MS);
  afterAll(() => gateway?.stop());

  const urlOf = (query = "") => `${gateway.url}${PAGES}${query}`;

  /** Sends a request like any program, without the browser's headers and cookies. */
  async function ask(query: string, headers: Readonly<Record<string, string>>, method = "GET") {
    const response = await fetch(urlOf(query), { method, headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
  const bearer = () => ({ authorization: `Bearer ${gateway.home.token}` });

  describe("stored text", () => {
    it("is shown as text, and nothing in it runs or is loaded", async () => {
      await page.goto(urlOf());
      const links = await page
        .getByRole("main")
        .getByRole("link")
        .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
      const facts = [...new Set(links.filter((href) => href.startsWith(`${PAGES}/fact?`)))];
      expect(facts.length).toBeGreaterThanOrEqual(HOSTILE_VALUES.length + HOSTILE_KEYS.length + 1);
      for (const href of ["", "?q=hostile", "/ending", "/timeline", ...facts.map(behind)]) {
        await page.goto(urlOf(href));
        await page.getByRole("main").waitFor();
        expect(await page.locator(FOREIGN.join()).count(), href).toBe(0);
        expect(await page.title(), href).not.toBe("ran");
      }
    });

    it.each(HOSTILE_KEYS)("is found under the key %j, and its commands run nothing else", async (key) => {
      await page.goto(urlOf(`/fact?${new URLSearchParams({ key })}`));
      await page.getByRole("main").getByText(`hostile: ${key}`, { exact: true }).waitFor();
      const commands = await page.locator("code").filter({ hasText: "openclaw helmdeck" }).allInnerTexts();
      expect(commands.length).toBeGreaterThan(2);
      for (const command of commands) {
        const { stdout } = await gateway.run("sh", ["-c", `openclaw() { printf '%s\\n' "$#"; }\n${command}`]);
        expect(stdout, command).toMatch(/^\d+\n$/);
      }
      await expect(access(join(gateway.home.workspace, "ran"))).rejects.toThrow("ENOENT");
    });

    it("of another agent is not shown at any address", async () => {
      const ways = ["", "&agent=main", "&agent=main&agent=work"];
      const keys = [WORKS_KEY, `helmdeck/user_facts/${WORKS_KEY}.md`, `../work/${WORKS_KEY}`];
      for (const key of keys) {
        for (const way of ways) {
          const { status, text } = await ask(`/fact?key=${encodeURIComponent(key)}${way}`, bearer());
          expect([status, text.includes(WORKS_VALUE)], key + way).toEqual([404, false]);
        }
      }
      for (const agent of ["nobody", "../work", "work%00", "WORK/.."]) {
        const { status, text } = await ask(`?agent=${agent}`, bearer());
        expect([status, text.includes(WORKS_VALUE), text.includes(PLAIN_VALUE)], agent).toEqual([
          ...[404, false, false],
        ]);
      }
    });
  });

  describe("a request", () => {
    it("without a token or a cookie, like those of an agent's tools, gets nothing", async () => {
      const forged = cookie.replace(
        /=v1\.[^.]+/,
        `=v1.${payloadWith({ scopes: ["operator.admin"] }, cookie)}`,
      );
      const ofAnother = cookie.replace(/\.[^.]+$/, ".of-another-gateway");
      const asked: Readonly<Record<string, string>>[] = [
        {},
        { authorization: "Bearer wrong" },
        { cookie: forged },
        { cookie: ofAnother },
        { "x-openclaw-session-key": "agent:main:main", "x-openclaw-scopes": "operator.admin" },
      ];
      for (const headers of asked) {
        const { status, text } = await ask("", headers);
        expect([status, text.includes("kettle")], JSON.stringify(Object.keys(headers))).toEqual([401, false]);
      }
      expect(await ask("", { cookie })).toMatchObject({ status: 200 });
    });

    it("with a group's session gets the same as without it", async () => {
      const session = {
        "x-openclaw-agent-id": "work",
        "x-openclaw-session-key": "agent:work:telegram:group:-100",
        "x-openclaw-message-channel": "telegram",
      };
      const plain = await ask("", bearer());
      const named = await ask("?sessionKey=agent:work:main&session=agent:work:main", {
        ...bearer(),
        ...session,
      });
      expect(withoutTimes(named.text)).toBe(withoutTimes(plain.text));
      expect(plain.text).toContain(PLAIN_VALUE);
    });

    it("changes nothing, neither with the cookie nor with the token", async () => {
      for (const method of ["POST", "PUT", "DELETE"]) {
        expect((await ask("/forget?key=kettle", { cookie }, method)).status, method).toBe(401);
        expect((await ask("/forget?key=kettle", bearer(), method)).status, method).toBe(405);
      }
      const tools = await fetch(`${gateway.url}/tools/invoke`, { method: "POST", headers: { cookie } });
      expect(tools.status).toBe(401);
      expect((await ask("", bearer())).text).toContain(PLAIN_VALUE);
    });
  });

  describe("another site", () => {
    it("cannot frame, read, open or load the pages", async () => {
      for (const origin of sites.origins()) {
        for (const expected of [/CORS policy/, /ERR_FAILED/, /status of 40[13]/])
          browser.expectTrouble(expected);
        const seen: string[] = [];
        const other = await context.newPage();
        other.on("response", (response) => {
          const kind = response.request().resourceType();
          if (response.url().startsWith(urlOf())) seen.push(`${kind} ${response.status()}`);
        });
        await other.goto(`${origin}/?${encodeURIComponent(urlOf())}`);
        await expect.poll(() => other.title()).toBe("tried");
        const [framed] = other.frames().filter((one) => one !== other.mainFrame());
        expect(await framed?.content()).not.toContain("kettle");
        await other.getByRole("link").click();
        await other.getByText("Open the Agent memory tab").waitFor();
        expect(seen.filter((answer) => !/ 40[13]$/.test(answer))).toEqual([]);
        expect(seen).toEqual(expect.arrayContaining(["document 403"]));
        await other.close();
      }
    });

    it("is excluded by the pages' own policy, like all other sources", async () => {
      const { headers } = await ask("", { cookie });
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'self'");
      expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("set-cookie")).toBeNull();
    });
  });

  it("the frame's cookie is valid for this address only, and expires after minutes", async () => {
    const [given] = await context.cookies(urlOf());
    expect(given).toMatchObject({ path: PAGES, httpOnly: true, secure: true, sameSite: "None" });
    expect((given?.expires ?? 0) * 1_000 - Date.now()).toBeLessThanOrEqual(300_000);
    process.kill(gateway.pid, "SIGUSR2");
    await expect.poll(async () => (await ask("", { cookie })).status).toBe(401);
  });
});

/** A page on this machine, on another port and under another name. It tries everything that a page can. */
function useOtherSite() {
  let site: Awaited<ReturnType<typeof startSite>>;
  beforeAll(async () => {
    site = await startSite(({ url = "" }, response) => {
      const target = JSON.stringify(decodeURIComponent(url.slice(2))).replaceAll("<", "\\u003c");
      response.setHeader("content-type", "text/html").end(`<!doctype html><body><script>
        const target = ${target};
        const add = (name, how) => new Promise((done) => {
          const element = Object.assign(document.createElement(name), how, { onload: done, onerror: done });
          document.body.append(element);
        });
        const ask = (mode) => fetch(target, { credentials: "include", mode }).then((r) => r.text()).catch(() => "");
        document.body.append(Object.assign(document.createElement("a"), { href: target, textContent: "open" }));
        Promise.all([
          add("iframe", { src: target }), add("img", { src: target }), add("script", { src: target }),
          ask("cors"), ask("no-cors"),
        ]).then((answers) => { document.title = answers.some((a) => typeof a === "string" && a !== "") ? "read" : "tried"; });
      </script>`);
    });
  });
  afterAll(() => site?.close());
  return { origins: () => [site.origin, site.origin.replace("127.0.0.1", "localhost")] };
}

/** The part of an address after the pages' own address. */
function behind(href: string): string {
  return href.slice(PAGES.length);
}

/** The cookie's payload with other contents, but with the old signature. */
function payloadWith(over: object, cookie: string): string {
  const [, payload = ""] = /=v1\.([^.]+)/.exec(cookie) ?? [];
  const given: object = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  return Buffer.from(JSON.stringify({ ...given, ...over })).toString("base64url");
}

/** Removes the age of stored facts, which changes from one request to the next. */
function withoutTimes(text: string): string {
  return text.replaceAll(/<time .*?<\/time>/g, "");
}
