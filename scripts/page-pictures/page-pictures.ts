/**
 * Takes the pictures of the pages in docs/pictures: `npm run docs:pages`. Uses a real server, a real Chromium (Debian's package
 * `chromium`), and a sample memory.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";
import { betterSqliteDriver } from "../../engine/store/sqlite/better-sqlite-driver.ts";
import { openServerContext } from "../../packs/server-context.ts";
import { createServer } from "../../server/create-server.ts";
import { mintToken } from "../../server/tokens.ts";
import { fillSampleMemory } from "./sample-memory.ts";

const PICTURES = fileURLToPath(new URL("../../docs/pictures/", import.meta.url));
/** Two months after the build, because a store accepts no earlier time. */
const TODAY = Date.UTC(2027, 1, 12, 15, 30);
const DAY_MS = 86_400_000;
const SUBJECT = "main";
/** So that a picture shows nothing of this machine. */
const SHOWN_FOLDER = "~/.openclaw";
const SIZE = { width: 960, height: 820 };

const SHOTS = {
  facts: "/facts?q=how+do+we+deploy",
  fact: "/fact?key=deploy%2Fpreference",
  timeline: "/timeline",
  growth: "/growth",
  health: "/health",
} as const;

const folder = await mkdtemp(join(tmpdir(), "helmdeck-pictures-"));
try {
  await takePictures();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function takePictures(): Promise<void> {
  let time = TODAY - 60 * DAY_MS;
  const secret = randomBytes(32);
  const serverContext = await openServerContext({
    databasePath: join(folder, "helmdeck-memory", "memory.sqlite"),
    keyPath: join(folder, "helmdeck-memory.key"),
    ...{ env: {}, driver: betterSqliteDriver, sweepEveryMs: 0, withoutKey: "make", now: () => time },
  });
  await fillSampleMemory(serverContext.memory, SUBJECT, TODAY, (now) => {
    time = now;
  });
  const server = createServer(serverContext, { secret, pages: {}, now: () => time });
  const listening = await server.listen({ port: 0 });
  const asked = { subject: SUBJECT, ttlSeconds: 3_600, scopes: ["admin"] };
  const { token } = await mintToken(secret, asked, TODAY);
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: SIZE, reducedMotion: "reduce" });
  await page.goto(listening.url);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  for (const [name, path] of Object.entries(SHOTS)) await shoot(page, name, `${listening.url}${path}`);
  await browser.close();
  await listening.close();
  await serverContext.close();
}

async function shoot(page: Page, name: string, url: string): Promise<void> {
  await page.goto(url);
  const content = await page.content();
  await page.setContent(content.replaceAll(folder, SHOWN_FOLDER));
  const bottom = Number(await page.evaluate("document.documentElement.scrollHeight"));
  const clip = { x: 0, y: 0, width: SIZE.width, height: Math.min(bottom, SIZE.height) };
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.screenshot({ path: join(PICTURES, `pages-${name}-${colorScheme}.png`), clip });
  }
}
