/**
 * A real Chromium for tests of pages: Debian's, driven by playwright-core, with its own temporary folder.
 *
 * It can only reach loopback. A test fails if one of its pages reported an error (an uncaught exception, a line on the console, a violation
 * of its content security policy) or sent a request to anything but the server under test, unless the test expected it.
 */
import { once } from "node:events";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type ConsoleMessage,
  chromium,
} from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { whyWithout } from "../run/programs.ts";

const PROGRAM = "/usr/bin/chromium";
/** Well below a test's own limit, so that the error names the step that did not complete. */
const STEP_WITHIN_MS = 20_000;
/** Root cannot use Chromium's sandbox. Only names and addresses of loopback are resolved. */
const LOOPBACK_ONLY = "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost";
const FLAGS = ["--no-sandbox", "--disable-gpu", `--host-resolver-rules=${LOOPBACK_ONLY}`];
const FETCHED = /^(https?|wss?):/;

/** The reason why there is no browser for tests, or undefined: `describe.skipIf(whyNoBrowser)`. */
export const whyNoBrowser = whyWithout(PROGRAM, "--version");

/** A site of a test, on loopback. */
export async function startSite(answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { origin: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

export interface BrowserOptions {
  /** Origins of the servers under test, such as `http://127.0.0.1:18789`, read at each request. */
  readonly origins: () => readonly string[];
  /** Known errors that are not ours, for all tests of the file. */
  readonly ignored?: readonly RegExp[];
}

export interface TestBrowser {
  /** A context with its own cookies and storage, like another person's browser. Closed with the file, unless the test closes it. */
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** The current test expects errors that match. It fails if there is none. */
  expectTrouble(pattern: RegExp): void;
}

/** One browser for a test file or a `describe`. Call it where hooks may be declared. */
export function useBrowser({ origins, ignored = [] }: BrowserOptions): TestBrowser {
  let browser: Browser | undefined;
  let folder = "";
  let troubles: string[] = [];
  let expected: RegExp[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(await realpath(tmpdir()), "helmdeck-browser-"));
    browser = await chromium.launch({
      ...{ executablePath: PROGRAM, args: FLAGS },
      env: { PATH: process.env.PATH ?? "", LANG: "C.UTF-8", HOME: folder, TMPDIR: folder },
    });
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  afterEach(() => {
    const seen = troubles.filter((trouble) => !ignored.some((pattern) => pattern.test(trouble)));
    const missing = expected.filter((pattern) => !seen.some((trouble) => pattern.test(trouble)));
    const unexpected = seen.filter((trouble) => !expected.some((pattern) => pattern.test(trouble)));
    troubles = [];
    expected = [];
    expect({ unexpected, missing }).toEqual({ unexpected: [], missing: [] });
  });

  return {
    async newContext(options) {
      if (browser === undefined) throw new Error("the browser starts in beforeAll; ask for a context later");
      const context = await browser.newContext(options);
      context.setDefaultTimeout(STEP_WITHIN_MS);
      watch(context, origins, (trouble) => troubles.push(trouble));
      return context;
    },
    expectTrouble: (pattern) => void expected.push(pattern),
  };
}

function watch(
  context: BrowserContext,
  origins: BrowserOptions["origins"],
  onTrouble: (trouble: string) => void,
): void {
  const isRepeated = repetitions();
  const look = (url: string): void => {
    if (FETCHED.test(url) && !origins().includes(new URL(url.replace(/^ws/, "http")).origin))
      onTrouble(`request to somewhere else: ${url}`);
  };
  context.on("request", (request) => look(request.url()));
  context.on("page", (page) => page.on("websocket", (socket) => look(socket.url())));
  context.on("weberror", (error) => onTrouble(`uncaught: ${error.error().message}`));
  context.on("console", (message) => {
    if (message.type() !== "error" || isRepeated(message)) return;
    onTrouble(`console: ${message.text()} (${message.location().url})`);
  });
}

/** Chromium reports messages of a sandboxed frame again when the frame navigates. This detects the repeats. */
function repetitions(): (message: ConsoleMessage) => boolean {
  const seen = new Set<string>();
  return (message) => {
    const which = `${message.timestamp()} ${message.text()}`;
    const isKnown = seen.has(which);
    seen.add(which);
    return isKnown;
  };
}
