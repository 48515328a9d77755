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
import { importLines } from "../transfer/import-lines.ts";
import {
  DAY_MS,
  entryOf,
  NOW,
  openTestMemory,
  openWithClock,
  TestClock,
  tempPlace,
} from "./fixtures/memories.ts";

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

// verifies P-store-keeps
describe("two programs with defaults of 90 and 365 days on one file", () => {
  async function both() {
    const clock = new TestClock();
    const place = await tempPlace();
    const opened = (lifetimeDays: number) => openTestMemory({ ...place, now: clock.now, lifetimeDays });
    return { clock, usual: await opened(90), longer: await opened(365) };
  }

  test("an end that nobody chose begins again by the default of who stores, but never earlier", async () => {
    const { clock, usual, longer } = await both();
    await usual.storeFact("main", FACT);
    expect(await endOf(longer)).toBe(90);
    clock.pass(10 * DAY_MS);
    await longer.storeFact("main", FACT);
    expect(await endOf(usual)).toBe(375);
    await usual.storeFact("main", { ...FACT, value: "Through Argo." });
    expect(await endOf(usual)).toBe(375);
    clock.pass(300 * DAY_MS);
    await usual.storeFact("main", { ...FACT, value: "Through Argo CD." });
    expect(await endOf(usual)).toBe(400);
  });

  test.each([90, 365, 120])("an end of %d days that somebody chose stays, whoever stores", async (days) => {
    const { clock, usual, longer } = await both();
    for (const [at, memory] of [usual, longer, usual].entries()) {
      const chosen = at === 0 ? { ttlSeconds: days * 86_400 } : {};
      await memory.storeFact("main", { ...FACT, value: `${at}`, ...chosen });
      clock.pass(DAY_MS);
      expect(await endOf(memory)).toBe(days);
    }
    await longer.undoFact("main", { key: KEY });
    await longer.storeFact("main", { ...FACT, value: "After an undo." });
    expect(await endOf(usual)).toBe(days);
  });

  test("renewing and importing without a length take the program's own; a dry run says so and changes nothing", async () => {
    const { clock, longer } = await both();
    await longer.storeFact("main", { ...FACT, ttlSeconds: 86_400 });
    const asked = { key: KEY, dryRun: true };
    expect((await longer.renewFact("main", asked)).expiresAt).toBe(NOW + 365 * DAY_MS);
    expect(await endOf(longer)).toBe(1);
    await longer.renewFact("main", { key: KEY });
    expect(await endOf(longer)).toBe(365);
    const input = (async function* () {
      yield Buffer.from('{"key":"imported","value":"x"}\n');
    })();
    await importLines({ memory: longer, subject: "main", input });
    expect(await endOf(longer, "imported")).toBe(365);
    clock.pass(DAY_MS);
    await longer.storeFact("main", { key: "imported", value: "y" });
    expect(await endOf(longer, "imported")).toBe(366);
  });
});

// verifies P-condition-judged
describe("renewing many facts", () => {
  const PERSON = { surface: "cli", isPerson: true } as const;
  const AGENT = { surface: "rest", agent: "main" };

  /** Five facts of main on day 80, of which three expire soon, and one of another caller. */
  async function many() {
    const { clock, memory } = await openWithClock({ lifetimeDays: 365 });
    const lives = { early: 81, soon: 90, pinned: 90, later: 200, fresh: 365 };
    for (const [key, days] of Object.entries(lives))
      await memory.storeFact("main", { key, value: key, ttlSeconds: days * 86_400 });
    await memory.storeFact("work", { key: "theirs", value: "x", ttlSeconds: 90 * 86_400 });
    await memory.pinFact("main", { key: "pinned" }, PERSON);
    await memory.renewFact("main", { key: "pinned", ttlSeconds: 90 * 86_400 }, PERSON);
    clock.pass(80 * DAY_MS);
    const ends = async () => {
      const { facts } = await memory.listFacts("main", {});
      return Object.fromEntries(
        facts.map(({ key, expiresAt = 0 }) => [key, Math.round((expiresAt - NOW) / DAY_MS)]),
      );
    };
    return { clock, memory, ends, lives };
  }

  test.each([
    ["expiring", PERSON, { early: 445, soon: 445, pinned: 445 }],
    ["all", PERSON, { early: 445, soon: 445, pinned: 445, later: 445, fresh: 445 }],
    ["expiring", AGENT, { early: 445, soon: 445 }],
    ["all", undefined, { early: 445, soon: 445, later: 445, fresh: 445 }],
  ] as const)(
    "%s, by %j: each at once, as its dry run counted; one undo gives them their ends back",
    async (which, asker, changed) => {
      const { memory, ends, lives } = await many();
      const renewed = Object.keys(changed).length;
      const would = await memory.renewFacts("main", { which, dryRun: true }, asker);
      expect(would).toMatchObject({ which, renewed, dryRun: true, expiresAt: NOW + 445 * DAY_MS });
      expect(await ends()).toEqual(lives);
      expect(await memory.renewFacts("main", { which }, asker)).toMatchObject({ renewed, dryRun: false });
      expect(await ends()).toEqual({ ...lives, ...changed });
      expect(await memory.renewFacts("main", { which }, asker)).toMatchObject({ renewed: 0 });
      expect((await memory.getFact("work", { key: "theirs" }))?.expiresAt).toBe(NOW + 90 * DAY_MS);
      expect(await memory.renewFacts("main", { which: "undo" }, asker)).toMatchObject({ renewed });
      expect(await ends()).toEqual(lives);
      expect(await memory.renewFacts("main", { which: "undo" }, asker)).toMatchObject({ renewed: 0 });
      await memory.storeFact("main", { key: "soon", value: "Its chosen end stays." });
      expect(await ends()).toEqual(lives);
    },
  );

  test("an undo leaves alone what was stored, renewed, pinned or forgotten since, and ends that have passed", async () => {
    const { clock, memory, ends } = await many();
    await memory.renewFacts("main", { which: "all" }, PERSON);
    clock.pass(DAY_MS);
    await memory.storeFact("main", { key: "soon", value: "new" });
    await memory.renewFact("main", { key: "later" });
    await memory.forget("main", { scope: "key:fresh" });
    await memory.pinFact("main", { key: "pinned" }, PERSON);
    await memory.renewFacts("main", { which: "undo" }, PERSON);
    expect(await ends()).toEqual({ early: 445, soon: 446, later: 446, pinned: 446 });
  });

  test("what somebody changed since the dry run stays, and is counted; a revision to come is refused", async () => {
    const { memory, ends, lives } = await many();
    const { revision = 0 } = await memory.renewFacts("main", { which: "expiring", dryRun: true }, PERSON);
    await memory.renewFact("main", { key: "early", ttlSeconds: 2 * 86_400 });
    const asked = { which: "expiring", upTo: revision } as const;
    expect(await memory.renewFacts("main", asked, PERSON)).toMatchObject({ renewed: 2, newer: 1 });
    expect(await ends()).toEqual({ ...lives, early: 82, soon: 445, pinned: 445 });
    const ahead = { which: "all", upTo: revision + 1_000 } as const;
    await expect(memory.renewFacts("main", ahead)).rejects.toMatchObject({ code: "changed_meanwhile" });
  });

  test("works for more facts than one transaction takes", async () => {
    const { clock, memory } = await openWithClock();
    const keys = Array.from({ length: 600 }, (_none, at) => `k${at}`);
    await memory.store.putMany(keys.map((key) => entryOf(key, "x", { expiresAt: NOW + 10 * DAY_MS })));
    clock.pass(DAY_MS);
    expect(await memory.renewFacts("main", { which: "expiring" })).toMatchObject({ renewed: 600 });
    expect(await memory.renewFacts("main", { which: "undo" })).toMatchObject({ renewed: 600 });
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
