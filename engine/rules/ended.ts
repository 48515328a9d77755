/** Two sealed notes of a subject: how many facts ended in which month, for a year, and that a person was told today what ends soon. */
import { compareText } from "../compare-text.ts";
import { isRecord, jsonOf } from "../json.ts";
import type { EndedMonth, Entry, EntryRef, UnixMs } from "../store/memory-store.ts";
import { type Namespace, ownerOf } from "../store/namespace.ts";
import { type Plan, planPut, type Slot } from "./plans.ts";

const DAY_MS = 86_400_000;
export const TOLD_FOR_MS = 365 * DAY_MS;
const LONGEST_MONTH_MS = 31 * DAY_MS;

/** `told` ends with the day. */
export function ownNote(namespace: Namespace, key: "ended" | "told"): EntryRef {
  return { namespace: ownerOf(namespace), origin: "cache", key: `facts/${key}` };
}

/** Those of the note, and those that end at these times; the earliest first. */
export function endedMonths(note: Entry | undefined, ends: readonly UnixMs[], now: UnixMs): EndedMonth[] {
  const noted = note && jsonOf(Buffer.from(note.value).toString());
  const months = new Map(
    Object.entries(isRecord(noted) ? noted : {}).map(([month, n]) => [month, Number(n)]),
  );
  for (const end of ends) months.set(monthOf(end), (months.get(monthOf(end)) ?? 0) + 1);
  const kept = [...months].filter(([month]) => month >= monthOf(now - TOLD_FOR_MS));
  return kept.sort(([one], [other]) => compareText(one, other)).map(([month, facts]) => ({ month, facts }));
}

/** Swept facts by their subject. A session has none. */
export function factsAmong(swept: readonly Entry[]): ReadonlyMap<Namespace, readonly Entry[]> {
  const facts = swept.filter(({ namespace: of, origin }) => origin === "fact" && of === ownerOf(of));
  return Map.groupBy(facts, ({ namespace }) => namespace);
}

/** Counts swept facts. `now`: which no wrong clock has moved ahead. */
export function planEnded<S extends Slot>(slot: S, facts: readonly Entry[], now: UnixMs): Plan<S, unknown> {
  const months = endedMonths(
    slot.entry,
    facts.map(({ expiresAt = now }) => expiresAt),
    now,
  );
  const value = Buffer.from(JSON.stringify(Object.fromEntries(months.map((one) => [one.month, one.facts]))));
  const expiresAt = now + TOLD_FOR_MS + LONGEST_MONTH_MS;
  const plan = planPut(
    { slot, others: [] },
    { ...slot.ref, value, category: "cache", tags: [], expiresAt },
    now,
    {},
  );
  return { ...plan, upsert: plan.upsert.map((upsert) => ({ ...upsert, isLimited: false })) };
}

function monthOf(time: UnixMs): string {
  return new Date(time).toISOString().slice(0, "2026-11".length);
}
