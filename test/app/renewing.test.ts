/** Facts that expire soon are listed, and renewed by a person or, if enabled, by use. */
import { afterEach, describe, expect, test, vi } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { statusText } from "../../app/presenters/status-text.ts";
import { toWire } from "../../app/wire/codec.ts";
import { statusReply } from "../../app/wire/replies.ts";
import { renewText } from "../../commands/history.ts";
import { listText } from "../../commands/list.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { rfc3339 } from "../../engine/rfc3339.ts";
import { DAY_MS, NOW, openWithClock } from "./fixtures/memories.ts";

const KEY = "deploy/preference";
const PATH = `helmdeck/user_facts/${KEY}.md`;
const FACT = { key: KEY, value: "Always through Konflux.\nNever by hand." };

afterEach(() => vi.restoreAllMocks());

async function memoryWith(...facts: readonly { key: string; value: string; ttlSeconds?: number }[]) {
  const { clock, memory } = await openWithClock();
  for (const fact of facts) await memory.storeFact("main", fact);
  return { memory, clock };
}

async function endOf(memory: OpenMemory, key = KEY): Promise<number | undefined> {
  const expiresAt = (await memory.getFact("main", { key }))?.expiresAt;
  return expiresAt && (expiresAt - NOW) / DAY_MS;
}

describe("renewing a fact", () => {
  test("sets a new expiry and changes nothing else", async () => {
    const { memory, clock } = await memoryWith(FACT);
    const before = await memory.getFact("main", { key: KEY });
    clock.pass(80 * DAY_MS);
    const renewed = await memory.renewFact("main", { key: PATH });
    expect(renewed).toEqual({ ...before, revision: 2, expiresAt: NOW + 170 * DAY_MS });
    clock.pass(80 * DAY_MS);
    expect(await memory.getFact("main", { key: KEY })).toEqual(renewed);
    expect(await memory.factHistory("main", { key: KEY })).toMatchObject({ former: [] });
  });

  test("accepts a ttl", async () => {
    const { memory } = await memoryWith(FACT);
    await memory.renewFact("main", { key: KEY, ttlSeconds: 365 * 86_400 });
    expect(await endOf(memory)).toBe(365);
    await expect(memory.renewFact("main", { key: KEY, ttlSeconds: 366 * 86_400 })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });

  test("finds no missing or expired fact, and none of another caller", async () => {
    const { memory, clock } = await memoryWith({ ...FACT, ttlSeconds: 3_600 });
    await memory.storeFact("work", { key: "theirs", value: "x" });
    clock.pass(3_600 * 1_000);
    for (const key of [KEY, "theirs", "none"]) {
      await expect(memory.renewFact("main", { key })).rejects.toMatchObject({ code: "not_found" });
    }
    expect((await memory.getFact("work", { key: "theirs" }))?.expiresAt).toBe(NOW + 90 * DAY_MS);
  });
});

// verifies P-renew-bounded
describe("by use", () => {
  const read = (memory: OpenMemory, more: object = { renewOnUse: true }) =>
    memory.readDocument("main", { path: PATH, ...more });

  test("a fact that is read completely is renewed, until at most a year after its last store", async () => {
    const { memory, clock } = await memoryWith(FACT);
    const ends: (number | undefined)[] = [];
    for (let day = 0; day < 360; day += 60) {
      await read(memory);
      ends.push(await endOf(memory));
      clock.pass(60 * DAY_MS);
    }
    expect(ends).toEqual([90, 150, 210, 270, 330, 365]);
    clock.pass(6 * DAY_MS);
    expect(await read(memory)).toBeUndefined();
  });

  test("a store restarts the year", async () => {
    const { memory, clock } = await memoryWith(FACT);
    clock.pass(80 * DAY_MS);
    await memory.storeFact("main", FACT);
    clock.pass(80 * DAY_MS);
    await read(memory);
    expect(await endOf(memory)).toBe(250);
  });

  test.each([
    ["renewal was not requested", {}],
    ["a part was read", { renewOnUse: true, fromLine: 1, lineCount: 3 }],
    ["the end was read", { renewOnUse: true, fromLine: 2 }],
  ])("nothing is renewed when %s", async (_name, query) => {
    const { memory, clock } = await memoryWith(FACT);
    clock.pass(10 * DAY_MS);
    expect(await read(memory, query)).toBeDefined();
    expect(await endOf(memory)).toBe(90);
  });

  test("a fact with a ttl is not renewed", async () => {
    const { memory, clock } = await memoryWith({ ...FACT, ttlSeconds: 120 * 86_400 });
    for (let day = 0; day < 100; day += 20) {
      clock.pass(20 * DAY_MS);
      await read(memory);
    }
    expect(await endOf(memory)).toBe(120);
  });

  test("searching, listing and getting renew nothing", async () => {
    const { memory, clock } = await memoryWith(FACT);
    clock.pass(10 * DAY_MS);
    await memory.search("main", { query: "Konflux" });
    await memory.listFacts("main", {});
    await memory.corpusPage("main", { query: "Konflux" });
    await memory.getFact("main", { key: KEY });
    expect(await endOf(memory)).toBe(90);
  });

  test("reading works on a read-only store", async () => {
    const { memory, clock } = await memoryWith(FACT);
    clock.pass(10 * DAY_MS);
    const renew = vi.spyOn(memory.store, "renew");
    renew.mockRejectedValue(new HelmdeckError("store_locked", "Somebody else is writing."));
    expect(await read(memory)).toMatchObject({ truncated: false });
    expect(renew).toHaveBeenCalledOnce();
    expect(renew.mock.calls[0]?.[2]).toEqual({ givesWay: true });
  });
});

describe("facts that expire within 14 days", () => {
  const facts = [
    { key: "later", value: "x", ttlSeconds: 15 * 86_400 },
    { key: "soon", value: "x", ttlSeconds: 13 * 86_400 },
    { key: "sooner", value: "x", ttlSeconds: 86_400 },
  ];
  const named = {
    count: 2,
    soonest: [
      { key: "sooner", category: "user_facts", expires_at: rfc3339(NOW + DAY_MS) },
      { key: "soon", category: "user_facts", expires_at: rfc3339(NOW + 13 * DAY_MS) },
    ],
  };

  test("are in my-memory and status, soonest first", async () => {
    const { memory } = await memoryWith(...facts);
    expect(toWire(await memory.myMemory("main")).expiring).toEqual(named);
    expect(statusReply(await memory.status("main")).subject).toMatchObject({ expiring: named });
    expect(statusReply(await memory.status("work")).subject).not.toHaveProperty("expiring");
  });

  test("are in the document that an agent reads", async () => {
    const { memory } = await memoryWith(...facts);
    const document = await memory.readDocument("main", { path: "helmdeck/my-memory.md" });
    expect(document?.content).toContain(
      [
        "## Expiring within 14 days: 2 facts",
        "",
        "- sooner (helmdeck/user_facts/sooner.md) on 2026-11-21",
        "- soon (helmdeck/user_facts/soon.md) on 2026-12-03",
      ].join("\n"),
    );
  });

  test("are listed", async () => {
    const { memory } = await memoryWith(...facts);
    const listed = await memory.listFacts("main", { expiring: true });
    expect(listed.facts.map(({ key }) => key).sort()).toEqual(["soon", "sooner"]);
  });

  test("are no longer shown after they are renewed", async () => {
    const { memory } = await memoryWith(...facts);
    for (const key of ["soon", "sooner"]) await memory.renewFact("main", { key });
    expect(await memory.myMemory("main")).not.toHaveProperty("expiring");
  });

  test("are all counted, and at most ten are named", async () => {
    const many = Array.from({ length: 12 }, (_none, number) => ({
      key: `k${number}`,
      value: "x",
      ttlSeconds: 86_400 + number * 3_600,
    }));
    const { memory } = await memoryWith(...many.toReversed());
    const { expiring } = await memory.myMemory("main");
    expect(expiring?.count).toBe(12);
    expect(expiring?.soonest.map(({ key }) => key)).toEqual(many.slice(0, 10).map(({ key }) => key));
  });
});

describe("the text for a person", () => {
  const voice = {
    command: "helmdeck-memory",
    storing: "Store one.",
    caller: "main",
    now: NOW,
    style: (_format: unknown, text: string) => text,
  };

  test("names expiring facts in status, without control characters, and the command to renew them", async () => {
    const soon = { key: "soon", category: "user_facts", expiresAt: NOW + DAY_MS };
    const { memory } = await memoryWith();
    const status = await memory.status("main");
    const told = (expiring: { count: number; soonest: readonly (typeof soon)[] }) =>
      statusText(
        { ...status, subject: { name: "main", facts: 12, auditRows: 0, expiring } },
        { command: "openclaw helmdeck" },
      );
    expect(told({ count: 1, soonest: [soon] })).toContain("expiring within 14 days: 1 fact: soon\n");
    const many = told({ count: 12, soonest: [soon, { ...soon, key: "a\u001bb" }] });
    expect(many).toMatch(/expiring within 14 days: 12 facts: soon, a.+b, …\n.*openclaw helmdeck renew/);
    expect(many).not.toContain("\u001b");
  });

  test("names the new expiry of a renewed fact", async () => {
    const { memory } = await memoryWith(FACT);
    const renewed = await memory.renewFact("main", { key: KEY, ttlSeconds: 10 * 86_400 });
    const { answer } = renewText(renewed, voice);
    expect(answer).toEqual([
      expect.stringMatching(/^Renewed deploy\/preference for main\. It expires in 10 days, on 20\d\d-/),
    ]);
  });

  test("states that nothing expires soon", async () => {
    const { memory } = await memoryWith(FACT);
    const request = { expiring: true, limit: 10 };
    const { notes } = await listText(memory, await memory.listFacts("main", request), request, voice);
    expect(notes).toEqual(["No fact in the memory of main expires within 14 days."]);
  });
});
