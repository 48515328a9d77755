/** Two years of a memory, day by day: what ended, what was said before it ended, what pins kept, and when they ended, too. */
import { expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import type { Asker } from "../../app/memory.ts";
import { DAY_MS, inTurn, NOW, openWithClock } from "./fixtures/memories.ts";

const MAIN = "main";
const PERSON: Asker = { surface: "chat", isPerson: true };
const AGENT: Asker = { surface: "openclaw", agent: "main" };
const DAYS = 2 * 365 + 30;
const NOTICE_DAYS = 14;

const PINNED = ["confirmed", "unconfirmed", "kept-by-agent"] as const;
const FACTS = [...PINNED, "renewed", "plain"] as const;

/** The first day on which each key was seen to be so. */
class FirstDays {
  readonly days = new Map<string, number>();

  note(day: number, keys: readonly string[]): void {
    for (const key of keys) if (!this.days.has(key)) this.days.set(key, day);
  }
}

/** What people and agents do: a person confirms one pin once, and the agent tries all it can, every week. */
async function live(memory: OpenMemory, day: number, there: ReadonlySet<string>): Promise<void> {
  if (day === 360) await memory.pinFact(MAIN, { key: "confirmed" }, PERSON);
  if (day % 80 === 0) await memory.renewFact(MAIN, { key: "renewed" }, AGENT);
  if (day % 7 !== 0) return;
  const pinned = PINNED.filter((key) => there.has(key));
  await inTurn(pinned, async (key) => {
    await memory.pinFact(MAIN, { key }, AGENT);
    await memory.renewFact(MAIN, { key, ttlSeconds: 365 * 86_400 }, AGENT).catch(() => undefined);
    await memory.readDocument(MAIN, { path: `helmdeck/user_facts/${key}.md`, renewOnUse: true });
  });
}

// verifies P-pin-limits, P-renew-bounded
test("a pin lasts until a year after a person's last word, and each end is told in time", async () => {
  const { clock, memory } = await openWithClock();
  await inTurn(FACTS, (key) => memory.storeFact(MAIN, { key, value: `The value of ${key}.` }));
  await memory.pinFact(MAIN, { key: "confirmed" }, PERSON);
  await memory.pinFact(MAIN, { key: "unconfirmed" }, PERSON);
  await memory.pinFact(MAIN, { key: "kept-by-agent" }, AGENT);

  const [told, ended] = [new FirstDays(), new FirstDays()];
  for (let day = 0; day <= DAYS; day++) {
    clock.time = NOW + day * DAY_MS;
    const there = new Set((await memory.listFacts(MAIN, {})).facts.map(({ key }) => key));
    ended.note(
      day,
      FACTS.filter((key) => !there.has(key)),
    );
    const { soonest = [] } = (await memory.myMemory(MAIN)).expiring ?? {};
    told.note(
      day,
      soonest.map(({ key }) => key),
    );
    const order = soonest.map(({ pinned = false }) => Number(!pinned));
    expect(order).toEqual(order.toSorted()); // pinned ones first
    await live(memory, day, there);
  }

  expect(Object.fromEntries(ended.days)).toEqual({
    plain: 90,
    unconfirmed: 365,
    "kept-by-agent": 365,
    confirmed: 360 + 365,
  });
  const inTime = { plain: 90, unconfirmed: 365, "kept-by-agent": 365, confirmed: 365 };
  for (const [key, end] of Object.entries(inTime)) expect(told.days.get(key)).toBe(end - NOTICE_DAYS + 1);
});
