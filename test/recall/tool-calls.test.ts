/** Records of tool calls rank after facts, unless the question asks about past actions. Then the question's time selects them. */
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { recallOverStore } from "../../app/corpus-pages.ts";
import { auditEntry, checkAuditRow } from "../../engine/audit/audit-entries.ts";
import type { CorpusEntry } from "../../engine/projections/corpus.ts";
import { openStoreInMemory } from "../../engine/store/sqlite/open-in-memory.ts";
import { parsePastActions } from "../../recall/analysis/past-actions.ts";
import { NamespaceIndex } from "../../recall/namespace-index.ts";
import type { SemanticIndex } from "../../recall/vectors/semantic-contract.ts";
import { openMemoryInProcess, TestClock } from "../app/fixtures/memories.ts";
import { OWNER } from "./corpus.ts";

const ANA = "ana";
/** A time in November 2026 in this machine's time zone. The 20th is a Friday. */
const at = (day: number, hour = 12, minute = 0) => new Date(2026, 10, day, hour, minute).getTime();
const TODAY = at(20);
const DAY_MS = 24 * 3_600_000;

const SCRIPT = {
  key: "deploy/script",
  value: "The deploy script is scripts/deploy.sh and takes the region.",
};
const TEA = { key: "tea", value: "Oolong in the morning, nothing after four." };

class Fixture {
  readonly memory: OpenMemory;
  readonly #clock: TestClock;

  private constructor(memory: OpenMemory, clock: TestClock) {
    this.memory = memory;
    this.#clock = clock;
  }

  static async open(): Promise<Fixture> {
    const clock = new TestClock();
    clock.time = TODAY;
    return new Fixture(await openMemoryInProcess(clock.now), clock);
  }

  async facts(...facts: readonly { readonly key: string; readonly value: string }[]): Promise<void> {
    for (const fact of facts) await this.memory.storeFact(ANA, fact);
  }

  async call(tool: string, path: string, time = TODAY): Promise<void> {
    this.#clock.time = time;
    const row = { tool, outcome: "ok", at_unix: Math.floor(time / 1_000), inputs: { path } } as const;
    await this.memory.recordToolCall(ANA, row);
  }

  async pack(pack: string, time: number): Promise<void> {
    this.#clock.time = time;
    await this.memory.recordPackRun(ANA, { pack, outcome: "ok", at_unix: Math.floor(time / 1_000) });
  }

  async hits(query: string, limit = 10, time = TODAY) {
    this.#clock.time = time;
    return (await this.memory.search(ANA, { query, limit })).results;
  }

  /** Shown hits: facts by key, runs by name and inputs. */
  async shown(query: string, limit?: number): Promise<readonly string[]> {
    const hits = await this.hits(query, limit);
    return hits.map(({ key, title, snippet }) => {
      const path = /path: (\S+)/.exec(snippet)?.[1];
      return title === key
        ? key
        : [title.replace(/^.*: /, ""), ...(path === undefined ? [] : [path])].join(" ");
    });
  }
}

// verifies P-recall-beside-calls
describe("among many calls", () => {
  const QUESTIONS = [
    "deploy script region",
    "where is the deploy script",
    "oolong tea",
    "who fed the cat",
    "scripts/deploy.sh",
  ];

  test("facts are found as without them: the same ones, in the same order, with the same scores", async () => {
    const [alone, beside] = [await Fixture.open(), await Fixture.open()];
    for (const fixture of [alone, beside]) await fixture.facts(SCRIPT, TEA);
    for (let number = 0; number < 300; number += 1) {
      await beside.call(number % 2 ? "exec" : "read", `scripts/deploy-${number}.sh`, TODAY - number * 60_000);
    }
    const factsOf = async (fixture: Fixture, query: string) =>
      (await fixture.hits(query)).filter(({ kind }) => kind === "fact");
    for (const query of QUESTIONS) {
      const expected = (await factsOf(alone, query)).map(({ key, score, possible }) => [
        key,
        score,
        possible,
      ]);
      expect(
        (await factsOf(beside, query)).map(({ key, score, possible }) => [key, score, possible]),
      ).toEqual(expected);
    }
  });

  test("no embedding service receives a call", async () => {
    const store = await openStoreInMemory({ now: () => TODAY });
    const row = { tool: "exec", outcome: "ok", at_unix: Math.floor(TODAY / 1_000) };
    const fact = {
      namespace: OWNER,
      origin: "fact",
      category: "user_facts",
      tags: [],
      value: Buffer.from("v"),
    } as const;
    await store.putMany([
      { ...fact, key: "a" },
      auditEntry(OWNER, checkAuditRow("tool", row), TODAY),
      auditEntry(OWNER, checkAuditRow("pack", { pack: "lint", outcome: "ok", at_unix: row.at_unix }), TODAY),
    ]);
    const told: string[] = [];
    const follower = {
      changed: (upserts: readonly CorpusEntry[]) => void told.push(...upserts.map(({ kind }) => kind)),
      caughtUp() {},
      startOver() {},
      drop() {},
      ...{ isSettled: true, sizeBytes: 0 },
    };
    const index = new NamespaceIndex(OWNER, {
      source: recallOverStore(store),
      semantic: { follow: () => follower } as unknown as SemanticIndex, // the only part that an index uses
    });
    await index.catchUp();
    expect(told.sort()).toEqual(["fact", "pack"]);
    expect(index.toolCalls?.documentCount).toBe(1);
  });

  test("at most one call is shown, after the facts and with a lower score", async () => {
    const fixture = await Fixture.open();
    await fixture.facts(SCRIPT);
    for (let minute = 0; minute < 9; minute += 1)
      await fixture.call("read", "scripts/deploy.sh", at(20, 9, minute));
    const hits = await fixture.hits("scripts deploy.sh");
    expect(hits.map(({ kind }) => kind)).toEqual(["fact", "tool"]);
    expect(hits[1]?.score).toBeLessThan(hits[0]?.score ?? 0);
    expect((await fixture.hits("scripts deploy.sh", 1)).map(({ kind }) => kind)).toEqual(["fact"]);
  });

  test("a call is a sure hit if no fact is, and does not displace a possible fact", async () => {
    const fixture = await Fixture.open();
    await fixture.call("write", "lichen/essay.md");
    await fixture.call("write", "lichen/essay.md");
    expect(await fixture.shown("lichen essay")).toEqual(["write lichen/essay.md"]);
    await fixture.facts({ key: "lichen", value: "Lichen grows on the north wall." });
    const hits = await fixture.hits("who photographed the lichen essay in spring");
    expect(hits.map(({ kind, possible }) => [kind, possible])).toEqual([["fact", true]]);
  });

  test("expired and forgotten calls are not found", async () => {
    const fixture = await Fixture.open();
    await fixture.call("write", "lichen/essay.md");
    for (const question of ["lichen essay", "what did you do?"]) {
      expect(await fixture.hits(question, 10, at(20) + 29 * DAY_MS)).toHaveLength(1);
      expect(await fixture.hits(question, 10, at(20) + 31 * DAY_MS)).toEqual([]);
    }
    expect(await fixture.shown("lichen essay")).toHaveLength(1);
    await fixture.memory.forget(ANA, { scope: "tools" });
    expect(await fixture.shown("what did you do today?")).toEqual([]);
  });
});

describe("questions about past actions", () => {
  async function week(): Promise<Fixture> {
    const fixture = await Fixture.open();
    await fixture.facts(TEA, SCRIPT);
    await fixture.call("write", "report.md", at(12)); // Thursday of last week
    await fixture.call("web_fetch", "lichen.html", at(16, 0, 0)); // Monday
    await fixture.call("exec", "wednesday.sh", at(18));
    await fixture.call("edit", "first.md", at(19, 0, 0)); // the first moment of yesterday
    await fixture.pack("slides.narrate", at(19, 10));
    await fixture.call("exec", "last.sh", at(19, 23, 59));
    await fixture.call("read", "tea.md", at(20, 8));
    return fixture;
  }

  test.each([
    ["what did you do yesterday?", ["exec last.sh", "slides.narrate", "edit first.md"]],
    ["What have you done today", ["read tea.md"]],
    ["what did I do on Wednesday", ["exec wednesday.sh"]],
    ["Was habe ich gestern gemacht", ["exec last.sh", "slides.narrate", "edit first.md"]],
    ["what did you do the day before yesterday?", ["exec wednesday.sh"]],
    ["what did you do last week", ["write report.md"]],
    ["which tools did you use on Monday?", ["web_fetch lichen.html"]],
    ["tool calls 2026-11-18", ["exec wednesday.sh"]],
    ["activity yesterday", ["exec last.sh", "slides.narrate", "edit first.md"]],
    ["Was hast du gestern gemacht?", ["exec last.sh", "slides.narrate", "edit first.md"]],
    ["Was hast du vorgestern erledigt?", ["exec wednesday.sh"]],
    ["Was hast du hier gemacht?", expect.arrayContaining(["read tea.md", "write report.md"])],
    ["Qu'as-tu fait hier ?", ["exec last.sh", "slides.narrate", "edit first.md"]],
    ["¿Qué hiciste ayer?", ["exec last.sh", "slides.narrate", "edit first.md"]],
    ["what did you do on Sunday", []],
  ])("%j", async (question, expected) => {
    expect(await (await week()).shown(question)).toEqual(expected);
  });

  test("a date is a day of this machine's time zone, as yesterday is", async () => {
    vi.stubEnv("TZ", "America/Los_Angeles");
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    expect(new Date(at(19, 23, 59)).toISOString()).toBe("2026-11-20T07:59:00.000Z");
    const fixture = await week();
    for (const question of ["what did you do on 2026-11-19?", "what did you do yesterday?"])
      expect(new Set(await fixture.shown(question))).toEqual(
        new Set(["exec last.sh", "slides.narrate", "edit first.md"]),
      );
  });

  test("a question about this week finds calls since Monday, within the limit of hits", async () => {
    const fixture = await week();
    const all = await fixture.shown("what did you do this week?");
    expect(all).toHaveLength(6);
    expect(all).not.toContain("write report.md");
    expect(await fixture.shown("what did you do this week?", 2)).toHaveLength(2);
  });

  test("the subject of the question comes first, and facts are answers too", async () => {
    const fixture = await week();
    const hits = await fixture.hits("what did you do with lichen.html this week?");
    expect(hits[0]?.snippet).toContain("lichen.html");
    expect(hits[0]?.score).toBeGreaterThan(0.6);
    expect((await fixture.shown("what did you do about oolong in the morning today")).toSorted()).toEqual([
      "read tea.md",
      "tea",
    ]);
  });

  test("a hundred calls of one tool do not hide the others", async () => {
    const fixture = await Fixture.open();
    await fixture.call("message", "boss", at(19, 7));
    await fixture.call("write", "plan.md", at(19, 8));
    for (let minute = 0; minute < 50; minute += 1)
      await fixture.call("exec", `${minute}.sh`, at(19, 9, minute));
    const shown = await fixture.shown("what did you do yesterday", 6);
    expect(shown).toEqual([
      "exec 49.sh",
      "exec 48.sh",
      "exec 47.sh",
      "exec 46.sh",
      "write plan.md",
      "message boss",
    ]);
  });

  test("a question whether something was done finds only matching calls", async () => {
    const fixture = await week();
    expect(await fixture.shown("did you already write report.md?")).toEqual(["write report.md"]);
    expect(await fixture.shown("did you write report.md yesterday?")).toEqual([]);
    expect(await fixture.shown("Hast du schon report.md?")).toEqual(["write report.md"]);
    expect(await fixture.shown("did you already feed the cat?")).toEqual([]);
  });

  test.each([
    "what does the cat do yesterday's food",
    "which tool do I prefer",
    "what happened yesterday",
    "when did we move",
    "what is my wifi password",
    "hier wohnt Ana",
    "the boiler is blinking, what did I do last time?",
    "did we settle on a mascot",
    "what activity did she take up in May 2026",
  ])("%j is not about past actions", (question) => {
    expect(parsePastActions(question, TODAY)).toBeUndefined();
  });
});
