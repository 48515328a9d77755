/** The pages of `serve` with a real Chromium, a real server and real sockets. */
import type { RequestListener } from "node:http";
import { Readable } from "node:stream";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Listening } from "../../server/create-server.ts";
import { ContextServer, NOW, SECRET, tokenFor } from "../server/fixtures/context-server.ts";
import { growMemory } from "../transfer/grown-memory.ts";
import { importLines } from "../transfer/import-lines.ts";
import { graveFaults } from "./axe.ts";
import { startSite, useBrowser, whyNoBrowser } from "./browser.ts";

const DAY_SECONDS = 86_400;
/** A page of a large memory takes a fifth of this. Only a defect takes as long. */
const PAGE_WITHIN_MS = 2_500;

const SECTIONS = "/ /facts /timeline /ending /tidy /growth /health /remember /forget".split(" ");
const OF_FACT = ["/fact", "/edit", "/renew", "/supersede", "/undo", "/forget"];

let served: ContextServer;
let listening: Listening;
let other: Awaited<ReturnType<typeof startSite>>;

describe.skipIf(whyNoBrowser)("the served pages", () => {
  const browser = useBrowser({
    origins: () => [listening.url, other.origin],
    // The server answers with status 401 if nobody is signed in.
    ignored: [/^console: .*status of 401/],
  });

  beforeAll(async () => {
    served = await ContextServer.open({ secret: SECRET, pages: {}, requestsPerMinute: 0 });
    listening = await served.server.listen({ port: 0 });
    other = await startSite(answerAsAttacker);
  });
  afterAll(async () => {
    other?.close();
    await listening?.close();
    await served?.close();
  });

  /** A separate browser context in which this caller has signed in. */
  async function signedIn(
    subject: string,
    options: BrowserContextOptions & { readonly scopes?: readonly string[] } = {},
  ): Promise<Page> {
    const { scopes, ...context } = options;
    const page = await (await browser.newContext(context)).newPage();
    await page.goto(listening.url);
    await page.getByLabel("Token").fill(await tokenFor(subject, scopes));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    return page;
  }

  const storeFact = (subject: string, key: string, value: string, ttlDays = 90) =>
    served.serverContext.memory.storeFact(subject, { key, value, ttlSeconds: ttlDays * DAY_SECONDS });
  const go = (page: Page, path: string) => page.goto(`${listening.url}${path}`);
  const heading = (page: Page) => page.getByRole("heading", { level: 1 });
  const link = (page: Page, name: string | RegExp) => page.getByRole("link", { name }).first();
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  /** Presses each button, until a page says what was done. */
  const press = async (page: Page, ...names: readonly string[]) => {
    for (const name of names) await button(page, name).click();
    await page.getByRole("status").first().waitFor();
  };
  const pressForget = async (page: Page) => {
    await page
      .getByRole("main")
      .getByRole("button", { name: /^Forget/ })
      .click();
    await page.getByRole("status").first().waitFor();
  };
  const factOf = (subject: string, key: string) => served.serverContext.memory.getFact(subject, { key });

  describe("for a person", () => {
    it("find, show, edit, renew, supersede, undo and forget a fact, each change with a preview", async () => {
      await storeFact("kim", "deploy/preference", "We deploy by hand, on Fridays", 3);
      await storeFact("kim", "editor", "tabs, never spaces");
      const page = await signedIn("kim");

      await page.getByRole("searchbox").fill("how do we deploy");
      await page.keyboard.press("Enter");
      await link(page, "We deploy by hand, on Fridays").click();
      await page.getByText("We deploy by hand, on Fridays").first().waitFor();

      await link(page, "Edit").click();
      await page.getByLabel("Value").fill("We deploy through Konflux");
      await button(page, "Preview").click();
      expect((await factOf("kim", "deploy/preference"))?.value).toBe("We deploy by hand, on Fridays");
      await press(page, "Save");
      expect((await factOf("kim", "deploy/preference"))?.value).toBe("We deploy through Konflux");
      expect(await page.getByText("We deploy by hand, on Fridays").count()).toBeGreaterThan(0);

      await link(page, "Undo").click();
      await press(page, "Undo");
      expect((await factOf("kim", "deploy/preference"))?.value).toBe("We deploy by hand, on Fridays");

      await link(page, "Renew").click();
      await press(page, "Preview", "Renew");
      expect((await factOf("kim", "deploy/preference"))?.expiresAt).toBe(NOW + 90 * DAY_SECONDS * 1_000);

      await link(page, "Supersede").click();
      await page.getByLabel("Key").fill("deploy/with");
      await page.getByLabel("Value").fill("Argo CD deploys");
      await press(page, "Preview", "Store and retire the old one");
      expect([
        await factOf("kim", "deploy/preference"),
        (await factOf("kim", "deploy/with"))?.writer,
      ]).toEqual([undefined, { surface: "pages", agent: "kim" }]);

      await link(page, "Forget").click();
      expect(await factOf("kim", "deploy/with")).toBeDefined();
      await pressForget(page);
      expect(await factOf("kim", "deploy/with")).toBeUndefined();
      expect(await factOf("kim", "editor")).toBeDefined();
    });

    it("tidy up a memory grown from four imports: merge, keep both, and forget, each undone", async () => {
      await growMemory(served.open, { subject: "kai" });
      const { memory } = served.serverContext;
      const facts = async () =>
        (await memory.listFacts("kai", {})).facts
          .map(({ revision: _, ...fact }) => fact)
          .toSorted((one, other) => one.key.localeCompare(other.key));
      const found = async () => (await memory.review("kai", {})).found;
      const [before, foundBefore] = [await facts(), await found()];
      const page = await signedIn("kai");
      const section = (name: RegExp) => page.getByRole("region", { name }).first();
      const allergy = section(/^The same under 4 keys/);

      await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Tidy up" }).click();
      await allergy.getByText("import mem0-").waitFor();
      expect(await graveFaults(page)).toEqual([]);
      await allergy.getByRole("link", { name: /^Keep this one health\/allergy/ }).click();
      await page.getByText("become its history").waitFor();
      expect(await graveFaults(page)).toEqual([]);
      expect(await facts()).toEqual(before);
      await button(page, "Merge").click();
      await page.getByText("Merged.").waitFor();
      expect(await facts()).toHaveLength(before.length - 3);
      await link(page, "Undo the merge").click();
      await press(page, "Undo");
      expect(await facts()).toEqual(before);

      await go(page, "/tidy");
      const conflict = section(/^These contradict each other/);
      const named = (await conflict.getAttribute("aria-label")) ?? "";
      await conflict.getByRole("link", { name: /^Keep both/ }).click();
      await button(page, "Keep them").click();
      await page.getByText("are not shown again").waitFor();
      expect(await page.getByRole("region", { name: named, exact: true }).count()).toBe(0);
      await link(page, "Show them again").click();
      await button(page, "Show them again").click();
      await page.getByRole("region", { name: named, exact: true }).waitFor();
      expect([await found(), await facts()]).toEqual([foundBefore, before]);

      await allergy.getByRole("link", { name: /^Forget health\/allergy/ }).click();
      await pressForget(page);
      const gone = before.find(({ key }) => key === "health/allergy");
      expect(await factOf("kai", "health/allergy")).toBeUndefined();
      await memory.storeFact("kai", { key: "health/allergy", value: gone?.value ?? "" });
      expect(await found()).toEqual(foundBefore);
    });

    it("show tool calls, expiring facts, growth and health, each from the navigation", async () => {
      await storeFact("lee", "sprint", "The sprint ends on Friday", 2);
      await served.serverContext.memory.recordToolCall("lee", {
        ...{ tool: "shell.run", outcome: "ok", at_unix: NOW / 1_000 - 60, duration_ms: 1_240 },
        inputs: { command: "kubectl rollout status" },
      });
      const page = await signedIn("lee");
      const sections = [
        ["Timeline", "The sprint ends on Friday"],
        ["Expiring soon", "sprint"],
        ["Growth", /fact/],
        ["Health", "✓ open"],
        ["Facts", "sprint"],
      ] as const;
      for (const [name, holds] of sections) {
        await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name }).click();
        await page.getByRole("main").getByText(holds).first().waitFor();
        expect(await page.locator("nav [aria-current=page]").innerText()).toBe(name);
      }
      expect(await page.getByRole("link", { name: "Callers" }).count()).toBe(0);
    });

    it("show an operator the callers with entries, but not their facts", async () => {
      await storeFact("mia", "canary/key", "canary value");
      const page = await signedIn("ops", { scopes: ["admin"] });
      await link(page, "Callers").click();
      await page.getByRole("rowheader", { name: "mia" }).waitFor();
      expect(await page.content()).not.toContain("canary");
    });

    it("store the typed text", async () => {
      const page = await signedIn("noa");
      await go(page, "/remember");
      await page.getByLabel("Value").fill("Reviews want two approvals\nand a green run");
      await press(page, "Preview", "Remember");
      const { facts } = await served.serverContext.memory.listFacts("noa", {});
      expect(facts.map(({ value }) => value)).toEqual(["Reviews want two approvals\nand a green run"]);
    });

    it("show nothing after signing out and going back", async () => {
      await storeFact("ola", "canary/seen", "canary on the screen");
      const page = await signedIn("ola");
      await go(page, "/fact?key=canary%2Fseen");
      await page.getByText("canary on the screen").first().waitFor();
      await button(page, "Sign out").click();
      await page.getByLabel("Token").waitFor();
      await page.goBack();
      await page.getByLabel("Token").waitFor();
      expect(await page.content()).not.toContain("canary on the screen");
      expect((await page.context().cookies()).length).toBe(0);
    });

    it("refuse a wrong token, and name the command that makes one", async () => {
      const page = await (await browser.newContext()).newPage();
      await page.goto(listening.url);
      await page.getByLabel("Token").fill("not a token");
      await page.keyboard.press("Enter");
      expect(await page.getByRole("alert").innerText()).toContain("helmdeck-memory token --subject");
      expect(page.url()).not.toContain("token=");
      expect(await graveFaults(page)).toEqual([]);
    });
  });

  it("show times, and sort days, as the reader's clock does", async () => {
    const { memory } = served.serverContext;
    await storeFact("uma", "tea", "Oolong");
    await memory.recordToolCall("uma", { tool: "shell.run", outcome: "ok", at_unix: NOW / 1_000 });
    for (const [timezoneId, minute, day] of [
      ["Pacific/Kiritimati", "2026-11-21 02:00", "Saturday 21 November 2026"],
      ["America/Los_Angeles", "2026-11-20 04:00", "Friday 20 November 2026"],
    ] as const) {
      const page = await signedIn("uma", { timezoneId });
      expect(await page.locator("footer").innerText()).toContain(`in your time zone, ${timezoneId}`);
      expect(await page.locator("time").first().getAttribute("title")).toBe(minute);
      await go(page, "/fact?key=tea");
      await page.getByText(`${minute} (just now)`).first().waitFor();
      for (const path of ["/timeline", "/timeline?kind=run"]) {
        await go(page, path);
        expect(await page.getByRole("heading", { level: 2 }).allInnerTexts()).toEqual([day]);
        expect(await page.locator(".run time").allInnerTexts()).toEqual([`${minute.slice(11)}:00`]);
      }
    }
  });

  it("can be used with the keyboard only", async () => {
    await storeFact("pat", "lint", "Biome, with its defaults", 2);
    const page = await (await browser.newContext()).newPage();
    await page.goto(listening.url);
    const focused = () => page.evaluate<string>("document.activeElement.textContent.trim()");
    /** Presses Tab until the element has focus. Fails on a page on which it never gets focus. */
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 60; presses += 1) {
        await page.keyboard.press("Tab");
        if ((await focused()) === name) return;
      }
      throw new Error(`the keyboard does not reach ${name}`);
    };
    // The field gets focus by itself, but the browser decides when.
    await expect.poll(() => page.evaluate<string>("document.activeElement.tagName")).toBe("INPUT");
    await page.keyboard.insertText(await tokenFor("pat"));
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to the content");
    for (const [name, url] of [
      ["Select all on this page", /select=all/],
      ["Renew…", /selected/],
      ["Renew them", /done=renewedMany/],
      ["Undo this", /which=undo/],
    ] as const) {
      await tabTo(name);
      await page.keyboard.press("Enter");
      await page.waitForURL(url);
    }
    await go(page, "/");
    await tabTo("Biome, with its defaults");
    await page.keyboard.press("Enter");
    await page.getByText("Biome, with its defaults").first().waitFor();
    await tabTo("Forget");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/forget\?/);
    await tabTo("Forget it for good");
    await page.keyboard.press("Enter");
    await page.getByRole("status").first().waitFor();
    expect(await factOf("pat", "lint")).toBeUndefined();
    await tabTo("Sign out");
    await page.keyboard.press("Enter");
    await page.getByLabel("Token").waitFor();
  });

  describe("with hostile stored text", () => {
    const HOSTILE = [
      "<script>document.title = 'ran'</script>",
      "<img src=x onerror=\"document.title = 'ran'\">",
      "</pre></textarea></title></style><svg onload=\"document.title = 'ran'\">",
      "[click](javascript:document.title='ran') javascript:document.title='ran'",
      '<a href="https://elsewhere.example">free</a><form action="https://elsewhere.example"><button>Sign in</button></form>',
      '"><b onmouseover="document.title=\'ran\'">\'><base href="https://elsewhere.example">',
      '<meta http-equiv="refresh" content="0; url=https://elsewhere.example"><iframe srcdoc="<script>top.document.title=\'ran\'</script>"></iframe>',
      "{{constructor.constructor('document.title=1')()}}",
    ];
    const KEYS = ["<img/src=x>", "\"'><script>", "../../sign-out", "a?b=c&d#e%2F%00", "javascript:alert(1)"];
    const LONG = "w".repeat(65_536);
    let page: Page;

    beforeAll(async () => {
      const { memory } = served.serverContext;
      await memory.recordToolCall("quin", {
        ...{ tool: "<b>tool</b>", outcome: "failed", at_unix: NOW / 1_000 - 5 },
        inputs: { path: HOSTILE[1] ?? "" },
      });
      for (const [n, value] of HOSTILE.entries()) {
        await memory.storeFact("quin", { key: `hostile/${n}`, value: "before", tags: [`<i>${n}</i>`] });
        await memory.storeFact("quin", {
          key: `hostile/${n}`,
          value,
          tags: [`<i>${n}</i>`],
          ttlSeconds: DAY_SECONDS,
        });
      }
      for (const key of KEYS) await memory.storeFact("quin", { key, value: `under ${key}` });
      await memory.storeFact("quin", { key: `long/${"k".repeat(500)}`, value: LONG });
      page = await signedIn("quin");
    });

    it("run nothing, load nothing and have no outside links, on any page", async () => {
      const { facts } = await served.serverContext.memory.listFacts("quin", {});
      const paths = [...SECTIONS, `/facts?q=${encodeURIComponent(HOSTILE[0] ?? "")}`];
      for (const { key } of facts) paths.push(`/fact?${new URLSearchParams({ key })}`);
      for (const path of OF_FACT) paths.push(`${path}?${new URLSearchParams({ key: "hostile/2" })}`);
      for (const path of paths) {
        await go(page, path);
        await heading(page).hover();
        const title = await page.title();
        expect([path, title.includes("Agent memory"), title === "ran"]).toEqual([path, true, false]);
        expect(await page.locator("iframe, img, base, object, embed, meta[http-equiv]").count()).toBe(0);
        const leads = await page.evaluate<string[]>(
          "[...document.querySelectorAll('a[href], form')].map((one) => one.href ?? one.action)",
        );
        expect([path, leads.filter((href) => !href.startsWith(`${listening.url}/`))]).toEqual([path, []]);
      }
    });

    it("show hostile keys in full, each with a link to its own fact", async () => {
      for (const key of KEYS) {
        await go(page, `/facts?${new URLSearchParams({ prefix: key })}`);
        await page.getByRole("main").getByRole("listitem").getByRole("link").first().click();
        await page.getByText(`under ${key}`).first().waitFor();
      }
    });

    it("save a value of 64 KiB unchanged from the edit form", async () => {
      const [fact] = (await served.serverContext.memory.listFacts("quin", { prefix: "long/" })).facts;
      await go(page, `/edit?${new URLSearchParams({ key: fact?.key ?? "" })}`);
      const lines = `${"ü ".repeat(21_700)}\n${"\n".repeat(300)}end`;
      await page.getByLabel("Value").fill(lines);
      await press(page, "Preview", "Save");
      expect((await factOf("quin", fact?.key ?? ""))?.value).toBe(lines.trim());
    });

    it("fit a phone's width, even with very long words", async () => {
      await page.setViewportSize({ width: 360, height: 740 });
      const key =
        (await served.serverContext.memory.listFacts("quin", { prefix: "long/" })).facts[0]?.key ?? "";
      const paths = [...SECTIONS, ...OF_FACT.map((path) => `${path}?${new URLSearchParams({ key })}`)];
      for (const path of paths) {
        await go(page, path);
        const width = await page.evaluate("document.documentElement.scrollWidth");
        expect([path.slice(0, 20), width]).toEqual([path.slice(0, 20), 360]);
      }
    });
  });

  it("have no serious accessibility problem in light or dark colours", async () => {
    const { memory } = served.serverContext;
    await storeFact("ray", "deploy", "by hand", 2);
    await storeFact("ray", "deploy", "through Konflux", 2);
    await memory.recordToolCall("ray", { tool: "shell.run", outcome: "failed", at_unix: NOW / 1_000 - 60 });
    const page = await signedIn("ray", { scopes: ["admin"] });
    const paths = [...SECTIONS, "/callers", "/facts?q=deploy", "/facts?q=nothing+like+it", "/no/such/page"];
    browser.expectTrouble(/^console: .*status of 404/);
    for (const path of [...paths, ...OF_FACT.map((one) => `${one}?key=deploy`)]) {
      await go(page, path);
      expect([path, await graveFaults(page)]).toEqual([path, []]);
    }
    await go(page, "/edit?key=deploy");
    await button(page, "Preview").click();
    expect(["the preview", await graveFaults(page)]).toEqual(["the preview", []]);
    await go(page, "/remember");
    await page.getByLabel("Value").fill(" ");
    browser.expectTrouble(/^console: .*status of 400/);
    await button(page, "Preview").click();
    expect(["a refusal", await graveFaults(page)]).toEqual(["a refusal", []]);
  });

  it("answer within the time limit with ten thousand facts", async () => {
    await fillLargeMemory("sam", 10_000);
    const page = await signedIn("sam");
    for (const path of [
      ...SECTIONS,
      "/facts?q=the+deployment+of+service+77",
      "/fact?key=service%2F77",
      "/forget?key=service%2F77",
    ]) {
      await go(page, path); // the first request builds what is built only once
      const started = performance.now();
      await go(page, path);
      expect([path, performance.now() - started < PAGE_WITHIN_MS]).toEqual([path, true]);
    }
  });

  it("cannot be read, posted to or framed by a page of another origin", async () => {
    await storeFact("tam", "canary/read", "canary value");
    const page = await signedIn("tam");
    for (const trouble of [
      /ERR_FAILED/,
      /ERR_BLOCKED_BY_RESPONSE.NotSameOrigin/,
      /CORS policy/,
      /frame-ancestors/,
      /status of 403/,
    ]) {
      browser.expectTrouble(trouble);
    }
    await page.goto(`${other.origin}/?${new URLSearchParams({ target: listening.url })}`);
    await page.getByText("done").waitFor();
    const seen = await page.locator("#seen").innerText();
    expect(JSON.parse(seen)).toEqual({ read: "refused", opaque: "refused", framed: "refused" });
    const fact = () => factOf("tam", "canary/read");
    for (const form of ["sign-out", "forget"]) {
      await page.goto(`${other.origin}/?${new URLSearchParams({ target: listening.url })}`);
      browser.expectTrouble(/status of 403/);
      await page.locator(`#${form}`).click();
      await page.getByText("does not come from these pages").waitFor();
    }
    expect(await fact()).toBeDefined();
    await go(page, "/");
    await button(page, "Sign out").waitFor();
    // A link on that page can be followed, like a link on any page.
    await page.goto(`${other.origin}/?${new URLSearchParams({ target: listening.url })}`);
    await page.locator("#link").click();
    await page.getByText("Agent memory").first().waitFor();
  });
});

async function fillLargeMemory(subject: string, count: number): Promise<void> {
  if (served.open === undefined) throw new Error("there is no memory to fill");
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      key: `service/${n}`,
      value: `The deployment of service ${n} goes through pipeline ${n}`,
    }),
  );
  const { stored } = await importLines({
    ...{ memory: served.open, subject },
    input: Readable.from([Buffer.from(lines.join("\n"))]),
  });
  expect(stored).toBe(count);
}

/** A page with everything that another site may try. */
const answerAsAttacker: RequestListener = (request, response) => {
  const target = new URL(request.url ?? "/", "http://attacker").searchParams.get("target") ?? "";
  response.setHeader("Content-Type", "text/html").end(`<!doctype html><title>Elsewhere</title>
<p id="state">trying</p><pre id="seen"></pre><a id="link" href="${target}/">A link</a>
<form method="post" action="${target}/sign-out"><input type="hidden" name="form_token" value="x"><button id="sign-out">Win</button></form>
<form method="post" action="${target}/forget"><input type="hidden" name="scope" value="key:canary/read"><input type="hidden" name="step" value="confirm"><input type="hidden" name="revision" value="1"><button id="forget">Win</button></form>
<script>
const read = fetch("${target}/", { credentials: "include" }).then((answer) => answer.text(), () => "refused");
const opaque = fetch("${target}/facts?q=canary", { credentials: "include", mode: "no-cors" }).then(({ type }) => type, () => "refused");
const framed = new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.src = "${target}/";
  frame.onload = () => { let seen = "refused"; try { seen = frame.contentDocument.body.innerText } catch {} resolve(seen) };
  document.body.append(frame);
});
Promise.all([read, opaque, framed]).then(([read, opaque, framed]) => {
  document.querySelector("#seen").textContent = JSON.stringify({ read, opaque, framed });
  document.querySelector("#state").textContent = "done";
});
</script>`);
};
