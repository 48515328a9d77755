/** The pages of a memory at a served engine are the same as those of a local memory. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Memory } from "../../app/memory.ts";
import { remoteOf, ServedEngine } from "../app/remote/engine/served-engine.ts";
import { NOW } from "../server/fixtures/context-server.ts";
import { BASE, openRig } from "./rig.ts";

const DAY_S = 86_400;
const DIRECT = { surface: "openclaw", agent: "main", sessionKind: "direct" };

let engine: ServedEngine;
let remote: Memory;

beforeAll(async () => {
  engine = await ServedEngine.open();
  remote = remoteOf(engine.url);
  const { memory } = engine.context.serverContext;
  for (let at = 0; at < 60; at++) {
    const ends = { ttlSeconds: (2 + (at % 40)) * DAY_S };
    await memory.storeFact("main", { key: `note/${at}`, value: `Note ${at} of the <garden>.`, ...ends });
  }
  const kettle = { key: "kettle", category: "kitchen", tags: ["tea"] };
  await memory.storeFact("main", { ...kettle, value: "Descaled in May." }, DIRECT);
  await memory.storeFact("main", { ...kettle, value: "Descaled in June." }, DIRECT);
  await memory.storeFact("main", { key: "pot", value: "Next to the kettle.", supersedes: ["note/3"] });
  for (let at = 0; at < 60; at++) {
    const inputs = { file_path: `/garden/${at}`, made_at: "2026-11-20T00:00:00Z" };
    const outcome = at % 3 === 0 ? "failed" : "ok";
    const at_unix = NOW / 1_000 - at * 3_600;
    await memory.recordToolCall("main", { tool: "edit", outcome, at_unix, duration_ms: 7.5, inputs }, DIRECT);
  }
  await memory.recordPackRun("main", { pack: "slides.narrate", outcome: "succeeded", at_unix: NOW / 1_000 });
});
afterAll(async () => {
  await remote.close();
  await engine.close();
});

async function pageOf(memory: Memory, path: string): Promise<string> {
  return (await (await openRig({ memory, doctor: () => memory.doctor() })).get(path)).text;
}

function nextOf(page: string, path: string): string | undefined {
  const links = [...page.matchAll(/href="([^"]*cursor=[^"]*)"/g)].map(([, href = ""]) => href);
  return links
    .find((href) => href.startsWith(`${BASE}${path}`))
    ?.replaceAll("&amp;", "&")
    .slice(BASE.length);
}

describe("a page is the same over an engine and over a local store", () => {
  test.each([
    ["/", "of the &lt;garden&gt;."],
    ["/facts?category=kitchen", "Descaled in June."],
    ["/facts?q=when+was+the+kettle+descaled", "<mark>Descaled</mark>"],
    ["/facts?q=zebra", "zebra"],
    ["/fact?key=kettle", "Descaled in May."],
    ["/fact?key=pot", "which this fact superseded"],
    ["/fact?key=note%2F3", "Another one superseded it"],
    ["/fact?key=none", "There is no such fact"],
    ["/timeline", 'class="run"'],
    ["/timeline?kind=run", "file_path"],
    ["/timeline?outcome=failed", "failed"],
    ["/timeline?kind=pack", "slides.narrate"],
    [`/timeline?until=${NOW - 1}`, "Show the newest"],
    ["/ending", "note/0"],
    ["/growth", "Facts so far"],
    ["/growth?by=month", "2026"],
    ["/nowhere", "There is no such page"],
  ])("%s", async (path, shows) => {
    const here = await pageOf(engine.context.serverContext.memory, path);
    expect(here).toContain(shows);
    expect(await pageOf(remote, path)).toBe(here);
  });

  test.each(["/facts", "/timeline?kind=run"])("%s and its next page", async (path) => {
    const next = nextOf(await pageOf(remote, path), path);
    expect(next).toBeDefined();
    const here = await pageOf(engine.context.serverContext.memory, next ?? "");
    expect(await pageOf(remote, next ?? "")).toBe(here);
  });

  test("the fact's commands include undo only if there is something to undo", async () => {
    expect(await pageOf(remote, "/fact?key=kettle")).toContain("openclaw helmdeck undo kettle --agent work");
    expect(await pageOf(remote, "/fact?key=note%2F7")).not.toContain("helmdeck undo");
  });

  test("facts are listed by their expiry, in any order of storing", async () => {
    const page = await pageOf(remote, "/ending");
    const days = [...page.matchAll(/expires <time datetime="([^"]+)"/g)].map(([, time = ""]) => time);
    expect(days.length).toBeGreaterThan(10);
    expect(days).toEqual([...days].sort());
  });
});

describe("health", () => {
  test("shows the engine, its connection and the subject of each agent", async () => {
    const page = await pageOf(remote, "/health");
    expect(page).toContain("✓ reached");
    expect(page).toMatch(new RegExp(`an engine elsewhere, <code>${engine.url}</code>.*\\(version `));
    expect(page).toContain("has the memory of main at the engine");
    expect(page).toContain("It is configured on the engine's server");
    expect(page).not.toMatch(/at the engine<\/code>|<dt>Database<\/dt>|<dt>Key<\/dt>|no embedding service/);
  });

  test("shows that the engine cannot be reached, and a remedy", async () => {
    const nobody = remoteOf("http://127.0.0.1:9");
    const page = await pageOf(nobody, "/health");
    expect(page).toContain("The engine that keeps memory does not answer for this agent.");
    expect(page).toContain("✗ not reached");
    expect(page).toContain("cannot be reached (ECONNREFUSED)");
    expect(page).not.toContain("by words");
    expect(await pageOf(nobody, "/timeline")).toContain("Health</a> for the reason");
    await nobody.close();
  });
});
