/** `helmdeck-memory open`, as shipped, with a real Chromium in the place of the person's browser. */
import { chmod, mkdir, readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CommandHome, finish } from "../cli/command.ts";
import { graveFaults } from "./axe.ts";
import { useBrowser, whyNoBrowser } from "./browser.ts";

const WAIT = { timeout: 20_000, interval: 50 };
/** Fifteen times what it takes. Only a defect takes as long. */
const STORED_WITHIN_MS = 60_000;
const MINUTE_MS = 60_000;

const home = CommandHome.forEachTest();
let origin = "";
let running: ReturnType<CommandHome["start"]> | undefined;
afterEach(() => running?.kill("SIGKILL"));

/** Runs `open` at a desktop whose `xdg-open` does this. The address that it got, or that is printed. */
async function open(xdgOpen: string, env: Readonly<Record<string, string>> = {}) {
  await mkdir(home.path("bin"));
  await home.write("bin/xdg-open", `#!/bin/sh\n${xdgOpen}\n`);
  await chmod(home.path("bin/xdg-open"), 0o755);
  const PATH = `${home.path("bin")}:${process.env.PATH}`;
  const child = home.start(["open"], { env: { PATH, DISPLAY: ":0", ...env } });
  running = child;
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => {
      said += text;
    });
  const ended = finish(child);
  const address = await vi.waitUntil(async () => {
    const given = await readFile(home.path("address"), "utf8").catch(() => "");
    return /http:\S+\/sign-in\/\S+/.exec(`${given}${said}`)?.[0];
  }, WAIT);
  origin = new URL(address).origin;
  const stop = () => {
    child.kill("SIGINT");
    return ended;
  };
  return { address, stop, said: () => said };
}

const RECORDS = 'env > "$HOME/environment"; echo "$1" > "$HOME/address"';

// verifies P-alone-open
describe.skipIf(whyNoBrowser)("open", () => {
  const browser = useBrowser({ origins: () => [origin], ignored: [/^console: .*status of 401/] });

  async function visit(address: string): Promise<Page> {
    const page = await (await browser.newContext({ viewport: { width: 390, height: 800 } })).newPage();
    await page.clock.install();
    await page.goto(address);
    return page;
  }

  it("leads from nothing to a stored fact, by the keyboard alone, and to nobody else", async () => {
    const begun = performance.now();
    const { address, stop, said } = await open(RECORDS, { HELMDECK_MEMORY_KEY: "0f".repeat(32) });
    const page = await visit(address);
    await page.waitForURL(`${origin}/`);
    const actions: string[] = ["type the command"];
    const focused = "(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()";
    const reach = async (name: string) => {
      do await page.keyboard.press("Tab");
      while ((await page.evaluate(focused)) !== name);
      actions.push(name);
    };
    await reach("Remember something");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${origin}/remember`);
    for (const [label, text] of [
      ["Key", "deploy"],
      ["Value", "We deploy through Konflux"],
    ] as const) {
      await reach(label);
      await page.keyboard.type(text);
    }
    await reach("Preview");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Remember", exact: true }).waitFor();
    await reach("Remember");
    await page.keyboard.press("Enter");
    await page.getByRole("status").first().waitFor();
    expect([performance.now() - begun < STORED_WITHIN_MS, actions.length]).toEqual([true, 6]);
    const key = { env: { HELMDECK_MEMORY_KEY: "0f".repeat(32) } };
    const got = await home.run(["get", "deploy", "--json"], key);
    const writer = { surface: "pages", agent: "main" };
    expect(JSON.parse(got.stdout)).toMatchObject({ value: "We deploy through Konflux", writer });
    expect(await readFile(home.path("environment"), "utf8")).not.toMatch(/HELMDECK|0f0f/);

    const alive = page.waitForRequest(`${origin}/alive`);
    await page.clock.fastForward(MINUTE_MS);
    expect((await (await alive).response())?.status()).toBe(204);

    const late = await visit(address);
    await late.getByRole("alert").getByText("was opened before").waitFor();
    expect(await graveFaults(late)).toEqual([]);
    await page.reload();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(said()).toMatch(/opened twice, so everybody is signed out/);
    expect(await stop()).toMatchObject({ code: 0, stderr: expect.stringMatching(/Ended\.\n$/) });
  });

  it("prints an address where the browser does not start", async () => {
    const { address, stop, said } = await open("exit 3");
    expect(said()).toMatch(/No browser started\. Open this address .* once, for 5 minutes:\n/);
    await (await visit(address)).waitForURL(`${origin}/`);
    await stop();
  });
});
