/** The tab "Agent memory" in OpenClaw's Control UI, as an operator sees it: the real gateway, a real browser. */
import type { FrameLocator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OpenClawHost } from "../../scripts/openclaw-host/openclaw-host.ts";
import { agentTurn } from "../gateway/shared.ts";
import { type StandInModel, scriptFor, startStandInModel } from "../gateway/stand-in-model.ts";
import { useBrowser, whyNoBrowser } from "./browser.ts";
import {
  GATEWAY_WITHIN_MS,
  HOSTS_OWN_TROUBLES,
  openTab,
  PAGES,
  signIn,
  startGateway,
  store,
  tabOf,
} from "./control-ui.ts";

const KEY = "deploy/konflux";
const OLD_VALUE = "We deploy by hand, on Fridays.";
const VALUE = "We deploy through Konflux, never by hand.";
const WORKS_KEY = "office/door";
const WORKS_VALUE = "The office door opens at seven.";
const DAY_S = 86_400;
const PHONE = { width: 390, height: 844 };
const BROAD_SCREEN = { width: 1280, height: 900 };

describe.skipIf(whyNoBrowser)("the tab Agent memory", { timeout: GATEWAY_WITHIN_MS }, () => {
  let model: StandInModel;
  let gateway: OpenClawHost;
  let page: Page;
  let frame: FrameLocator;
  const browser = useBrowser({ origins: () => [gateway.url], ignored: HOSTS_OWN_TROUBLES });

  beforeAll(async () => {
    model = await startStandInModel();
    gateway = await startGateway({ config: { auditTools: "all" }, modelUrl: model.baseUrl });
    await store(gateway, "main", { key: KEY, value: OLD_VALUE });
    await store(gateway, "main", { key: KEY, value: VALUE });
    await store(gateway, "main", { key: "parcel", value: "A parcel comes on Friday.", ttl_seconds: DAY_S });
    await store(gateway, "work", { key: WORKS_KEY, value: WORKS_VALUE });
    const message = scriptFor("Sketch.", [{ tool: "write", args: { path: "sketch.md", content: "sketch" } }]);
    await agentTurn(gateway, { sessionKey: "agent:main:explicit:sketch", message });
    page = await signIn(await browser.newContext({ viewport: BROAD_SCREEN }), gateway);
  }, GATEWAY_WITHIN_MS);
  afterAll(async () => {
    await gateway?.stop();
    await model?.close();
  });

  const main = () => frame.getByRole("main");
  const goTo = (section: string) => frame.getByRole("link", { name: section, exact: true }).click();
  const heading = (name: string | RegExp) => frame.getByRole("heading", { name, level: 1 }).waitFor();
  const textOf = () => main().innerText();

  async function openFact(text: string): Promise<void> {
    await goTo("Facts");
    await main().getByRole("link", { name: text, exact: true }).first().click();
    await heading(text);
  }

  async function choose(agent: string): Promise<void> {
    await frame.getByText(/^Memory of/).click();
    await frame.getByRole("link", { name: agent, exact: true }).click();
    await frame.getByText(`Memory of ${agent}`).waitFor();
  }

  it("opens from the sidebar, with the default agent's facts", async () => {
    frame = await openTab(page);
    expect(new URL(page.url()).pathname).toBe("/agent-memory");
    await heading("Facts");
    expect(await textOf()).toContain(VALUE);
    expect(await textOf()).not.toContain(WORKS_VALUE);
  });

  it("searches as the agent does, and explains why each hit was found", async () => {
    const field = frame.getByRole("searchbox");
    await field.fill("how do we deploy");
    await field.press("Enter");
    await frame.getByRole("list", { name: "Why it was found" }).first().waitFor();
    expect(await textOf()).toContain(VALUE);
    expect(await textOf()).toMatch(/Searched by keywords/);
  });

  it("shows one fact with its dates, its writer and its former value", async () => {
    await openFact(VALUE);
    const text = await textOf();
    expect(text).toContain(VALUE);
    expect(text).toContain(OLD_VALUE);
    expect(text).toMatch(/Stored by\s+agent main, in OpenClaw \(main\)/);
    expect(text).toMatch(/Expires\s+\d{4}-\d\d-\d\d/);
  });

  it("copies a command that changes the fact, and the command works", async () => {
    await page.context().grantPermissions(["clipboard-read"], { origin: gateway.url });
    await frame.getByRole("button", { name: "Copy the command: Undo" }).click();
    await frame.getByText("Copied", { exact: true }).waitFor();
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(command).toBe(`openclaw helmdeck undo ${KEY} --agent main`);
    expect(await gateway.openclaw([...command.split(" ").slice(1), "--json"])).toMatchObject({ code: 0 });
    await goTo("Facts");
    await main().getByText(OLD_VALUE).waitFor();
  });

  it.each([
    ["what changed, by day", "Timeline", [/A parcel comes on Friday/]],
    [
      "what expires soon, and how to renew it",
      "Expiring soon",
      [/openclaw helmdeck renew parcel --agent main/],
    ],
    ["the growth of memory", "Growth", [/2\s+facts/]],
    [
      "the health of memory, and OpenClaw's settings for it",
      "Health",
      [/key/i, /OpenClaw version/, /direct chats/],
    ],
  ])("shows %s", async (_, section, texts) => {
    await goTo(section);
    await heading(section);
    for (const text of texts) expect(await textOf()).toMatch(text);
  });

  it("shows the agent's tool calls by day", async () => {
    await goTo("Facts");
    await frame.getByRole("link", { name: /of what tools did/ }).click();
    await heading("Timeline");
    for (const text of [/write/, /sketch\.md/]) expect(await textOf()).toMatch(text);
  });

  it("shows the memory of the chosen agent, and names that agent in each command", async () => {
    await goTo("Facts");
    await choose("work");
    expect(await textOf()).toContain(WORKS_VALUE);
    expect(await textOf()).not.toContain("Konflux");
    await openFact(WORKS_VALUE);
    expect(await textOf()).toContain(`openclaw helmdeck forget key:${WORKS_KEY} --agent work`);
    await choose("main");
  });

  it("follows the browser's dark or light colour scheme", async () => {
    const background = () =>
      frame
        .locator("body")
        .evaluate<string, unknown>("getComputedStyle(document.body).backgroundColor", undefined);
    const shown: string[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      shown.push(await background());
    }
    const [light = "", dark = ""] = shown.map((colour) => brightnessOf(colour));
    expect(light).toBeGreaterThan(200);
    expect(dark).toBeLessThan(60);
  });

  it("fits a phone's width", async () => {
    await page.setViewportSize(PHONE);
    for (const section of ["Facts", "Timeline", "Expiring soon", "Growth", "Health"]) {
      await goTo(section);
      await heading(section);
      const widths = await frame.locator("html").evaluate((root) => [root.scrollWidth, root.clientWidth]);
      expect(widths[0], section).toBeLessThanOrEqual(widths[1] ?? 0);
    }
    await page.setViewportSize(BROAD_SCREEN);
  });

  it("leaves no search words in the gateway's logs", async () => {
    const word = "zebracrossing";
    await page.goto(`${gateway.url}${PAGES}?q=${word}`);
    await page.getByRole("main").waitFor();
    const { stdout } = await gateway.run("grep", ["-rl", word, gateway.home.root]);
    expect(stdout).toBe("");
    await page.goto(gateway.url);
  });

  it("does not exist if the setting pages is off", async () => {
    await tabOf(page).waitFor();
    const set = ["config", "set", "plugins.entries.helmdeck-memory.config.pages", "false"];
    expect((await gateway.openclaw(set)).code).toBe(0);
    await expect.poll(async () => (await gateway.fetch(PAGES)).status).toBe(404);
    await page.reload();
    await page.getByRole("link", { name: "Agents", exact: true }).waitFor();
    expect(await tabOf(page).count()).toBe(0);
  });
});

/** 0 is black, 255 is white. */
function brightnessOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return (red + green + blue) / 3;
}
