/** The tests' browser itself: it detects errors in a page. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSite, useBrowser, whyNoBrowser } from "./browser.ts";

const PAGES: Readonly<Record<string, string>> = {
  "/fine": "<!doctype html><title>Fine</title><h1>Fine</h1>",
  "/throws": "<script>throw new Error('from the page')</script>",
  "/script": "<button onclick='document.title = 1'>Press</button>",
  "/elsewhere": "<img src='http://elsewhere.example/pixel.png'>",
};

describe.skipIf(whyNoBrowser)("the browser of the tests", () => {
  let site: Awaited<ReturnType<typeof startSite>>;
  beforeAll(async () => {
    site = await startSite(({ url = "" }, response) => {
      const policy = url === "/script" ? "script-src 'none'" : "default-src * 'unsafe-inline'";
      response.setHeader("content-security-policy", policy).setHeader("content-type", "text/html");
      response.end(PAGES[url] ?? "");
    });
  });
  afterAll(() => site.close());
  const browser = useBrowser({ origins: () => [site.origin] });

  async function opened(path: string) {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${site.origin}${path}`);
    return page;
  }

  it("reports nothing for a page without errors", async () => {
    expect(await (await opened("/fine")).title()).toBe("Fine");
  });

  it.each([
    ["an uncaught exception", "/throws", [/^uncaught: from the page/]],
    ["a violation of the content security policy", "/script", [/^console: .*Content Security Policy/]],
    [
      "a request to another server, which fails",
      "/elsewhere",
      [/^request to somewhere else: http:\/\/elsewhere\.example\/pixel/, /^console: .*ERR_NAME_NOT_RESOLVED/],
    ],
  ])("reports %s", async (_what, path, troubles) => {
    for (const trouble of troubles) browser.expectTrouble(trouble);
    await opened(path);
  });
});
