/** The site contains every page and the API references, can be searched, and works on a phone, from a server and from files. */
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/build/build.ts";
import { graveFaults } from "../pages/axe.ts";
import { useBrowser, whyNoBrowser } from "../pages/browser.ts";

const TIMEOUT_MS = 480_000;
let site: string;
let said: string;

beforeAll(async () => {
  site = await mkdtemp(join(tmpdir(), "helmdeck-site-"));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["scripts/docs-site.ts", site], {
    cwd: ROOT,
  });
  said = stdout + stderr;
}, TIMEOUT_MS);
afterAll(() => rm(site, { recursive: true, force: true }));

test("the documentation site is built without warnings", () => {
  expect(said).not.toMatch(/warning|error/);
});

test("the documentation site contains every page and every picture", async () => {
  const pages = globSync(["docs/**/*.md", "{CONTRIBUTING,SECURITY,CHANGELOG}.md"], { cwd: ROOT });
  const documents = await readdir(join(site, "documents"));
  expect(documents).toHaveLength(pages.length + 1); // the REST API
  expect(documents).toContain("Upgrade.html");
  expect((await readdir(join(site, "media"))).some((name) => name.startsWith("tutorial-"))).toBe(true);
  expect(await readFile(join(site, "index.html"), "utf8")).toContain('href="documents/');
});

test("the documentation site contains the library's reference, generated from the docstrings", async () => {
  const page = await readFile(join(site, "functions", "helmdeck-memory.openMemory.html"), "utf8");
  expect(page).toContain("Opens a memory in this process");
});

const COMPARISON = "documents/Which_memory_should_an_OpenClaw_user_take_.html";

describe.skipIf(whyNoBrowser)("in a browser", () => {
  let server: Server;
  let origin = "";
  beforeAll(async () => {
    server = createServer((request, response) => void answer(request.url ?? "", response)).listen(
      0,
      "127.0.0.1",
    );
    await new Promise((resolve) => server.once("listening", resolve));
    // A server that listens on a port has an address of this form.
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());
  const browser = useBrowser({
    origins: () => [origin],
    // TypeDoc uses its icons in the page where those in a file cannot be read.
    ignored: [/^console: Unsafe attempt to load URL file:.*icons\.svg/],
  });
  const onPhone = async () => (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();

  const PAGES = [
    "index.html",
    "documents/Benchmarks.html",
    "documents/REST_API.html",
    COMPARISON,
    "documents/The_command_line.html",
    "functions/helmdeck-memory.openMemory.html",
  ];

  test("each kind of page fits a phone, asks nobody else, and has no serious accessibility problem", async () => {
    const page = await onPhone();
    for (const path of PAGES) {
      await page.goto(`${origin}/${path}`);
      expect([path, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, 390]);
      expect([path, await graveFaults(page)]).toEqual([path, []]);
    }
  });

  test("a table that is wider than a phone scrolls by itself, also with the keyboard", async () => {
    const page = await onPhone();
    await page.goto(`${origin}/${COMPARISON}`);
    const wide = await page.locator(".scrolls").evaluateAll((boxes) =>
      boxes
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map((box) => {
          box.scrollLeft = 1_000;
          return [box.scrollLeft > 0, box.getAttribute("tabindex")];
        }),
    );
    expect(wide.length).toBeGreaterThan(0);
    expect(new Set(wide.map(String))).toEqual(new Set(["true,0"]));
  });

  test.each(["a server", "files"])("the search finds a guide and a route from %s", async (from) => {
    const page = await onPhone();
    await page.goto(from === "files" ? pathToFileURL(join(site, "index.html")).href : `${origin}/index.html`);
    for (const [words, title] of [
      ["ten minutes", /Ten minutes to an agent/],
      ["REST API", /REST API/],
      ["mem0", /Which memory should an OpenClaw user take/],
      ["compare", /Which memory should an OpenClaw user take/],
    ] as const) {
      await page.locator("#tsd-search-trigger").click();
      await page.locator("#tsd-search-input").fill(words);
      await page.locator("#tsd-search-results a").filter({ hasText: title }).first().click();
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
    }
  });
});

async function answer(url: string, response: ServerResponse): Promise<void> {
  const path = decodeURIComponent(new URL(url, "http://x").pathname);
  const type = TYPES[extname(path)] ?? "application/octet-stream";
  const content = await readFile(join(site, path)).catch(() => undefined);
  const missing = path === "/favicon.ico" ? 204 : 404; // only the browser asks for it
  response.writeHead(content === undefined ? missing : 200, { "content-type": type }).end(content);
}

const TYPES: Readonly<Record<string, string>> = {
  ...{ ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" },
};
