/** Contract, as a property: after any operations, a store answers like a simple model. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ownNote } from "../../engine/rules/ended.ts";
import {
  type EntryFilter,
  type EntryId,
  type MemoryStore,
  type NewEntry,
  ORIGINS,
  type PutResult,
} from "../../engine/store/memory-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { bytes, HOUR_MS, KEPT_EXPIRED_MS, letPass, type OpenRig, START, type StoreRig, text } from "./rig.ts";

/** One operation on a store. There are few, similar names, so that operations often affect the same entries. */
type Step =
  | { readonly do: "put"; readonly entries: readonly NewEntry[] }
  | { readonly do: "look" }
  | {
      readonly do: "delete";
      readonly filter: EntryFilter;
      readonly exact: boolean;
      /** Only what the last look showed. */
      readonly shown: boolean;
    }
  | { readonly do: "sweep" }
  | { readonly do: "day" }
  | { readonly do: "wait"; readonly ms: number };

/** An entry as the model keeps it. */
interface Kept extends NewEntry {
  readonly id: EntryId;
  readonly revision: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

const KEYS = ["a", "A", "a/b", "a_b", "a%", "é", "😀", "\u{10ffff}"];
const NAMESPACES = [namespaceOf("ana"), namespaceOf("ana", "s"), namespaceOf("ana:s"), namespaceOf("Ana")];
const CATEGORIES = ["user_facts", "tools"];

const namespace = fc.constantFrom(...NAMESPACES);
const key = fc.constantFrom(...KEYS);

const newEntry: fc.Arbitrary<NewEntry> = fc
  .record({
    namespace,
    key,
    origin: fc.constantFrom(...ORIGINS),
    value: fc.constantFrom("", "x", "value", "värde").map(bytes),
    category: fc.constantFrom(...CATEGORIES),
    tags: fc.constantFrom([], ["t"], ["t", "u"]),
    expiresAt: fc.option(fc.nat(40), { nil: undefined }),
  })
  .map(({ expiresAt, ...entry }) => ({
    ...entry,
    ...(expiresAt === undefined ? {} : { expiresAt: START + expiresAt }),
  }));

const filter: fc.Arbitrary<EntryFilter> = fc.record(
  {
    namespace,
    includeSessions: fc.boolean(),
    origins: fc.subarray([...ORIGINS]),
    category: fc.constantFrom(...CATEGORIES),
    key,
    prefix: fc.constantFrom("", "a", "A", "a/", "a_", "%", "é", "\u{10ffff}"),
  },
  { requiredKeys: ["namespace"] },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("put" as const), entries: fc.array(newEntry, { maxLength: 6 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("delete" as const),
      filter,
      exact: fc.boolean(),
      shown: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: "look" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "sweep" as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(12) }) },
);

const steps = fc.array(step, { maxLength: 25 });
/** Includes one long wait. The store reads the clock 289 times for it, so this only suits stores without a disk. */
const stepsOfDays = fc
  .tuple(steps, fc.nat(25))
  .map(([taken, at]): readonly Step[] => taken.toSpliced(at, 0, { do: "day" }));

export function describeModel(open: OpenRig, numRuns: number, { isPersistent = false } = {}): void {
  describe("any sequence of steps", () => {
    test("lists, counts, gets and feeds the same as a simple model", async () => {
      await fc.assert(
        fc.asyncProperty(
          isPersistent ? steps : fc.oneof(steps, stepsOfDays),
          fc.array(filter, { minLength: 1, maxLength: 4 }),
          fc.integer({ min: 1, max: 7 }),
          async (taken, filters, pageSize) => {
            const rig = await open({ keepRemovals: 4, eraseAtOnce: 2 });
            try {
              await compare(rig, taken, filters, pageSize);
            } finally {
              await rig.dispose();
            }
          },
        ),
        { numRuns },
      );
    }, 120_000);
  });
}

async function compare(
  rig: StoreRig,
  steps: readonly Step[],
  filters: readonly EntryFilter[],
  pageSize: number,
): Promise<void> {
  const model = new Model();
  const replica = new Replica();
  for (const taken of steps) {
    await take(rig, model, taken);
    if (taken.do === "wait") await replica.catchUp(rig.store, pageSize);
  }
  await replica.catchUp(rig.store, pageSize);
  for (const wanted of filters) {
    expect(await rig.store.countWhere(wanted)).toBe(model.live(rig.clock.now, wanted).length);
  }
  for (const one of NAMESPACES) {
    const expected = model.live(rig.clock.now, { namespace: one }).map(show);
    expect(await listed(rig.store, { namespace: one, limit: pageSize })).toEqual(expected);
    expect(replica.live(one, rig.clock.now)).toEqual([...expected].sort());
  }
}

async function take({ store, clock }: StoreRig, model: Model, taken: Step): Promise<void> {
  switch (taken.do) {
    case "wait":
      clock.now += taken.ms;
      return;
    case "sweep":
      expect((await store.deleteExpired()).deleted).toBe(model.sweep());
      return;
    case "day":
      await letPass(store, clock, KEPT_EXPIRED_MS + HOUR_MS);
      model.passDay(clock.now);
      for (const one of NAMESPACES) await store.delete(ownNote(one, "ended")); // the model does not count what ended
      return;
    case "put": {
      const results = await store.putMany(taken.entries);
      for (const [i, entry] of taken.entries.entries()) model.put(entry, results[i], clock.now);
      return;
    }
    case "delete":
      return takeDelete(store, model, taken, clock.now);
    case "look": {
      for (const one of NAMESPACES)
        model.looked.set(one, await store.revision(one, { includeSessions: true }));
    }
  }
}

async function takeDelete(
  store: MemoryStore,
  model: Model,
  taken: Extract<Step, { readonly do: "delete" }>,
  now: number,
): Promise<void> {
  const { exact, shown } = taken;
  const bound = shown ? { upTo: model.looked.get(taken.filter.namespace) ?? 0 } : {};
  const wanted = { ...taken.filter, ...bound };
  const ref = { namespace: wanted.namespace, origin: "fact" as const, key: wanted.key ?? "a" };
  const meant: EntryFilter = exact ? { ...ref, ...bound, origins: [ref.origin] } : wanted;
  const { deleted, newer } = exact ? await store.delete(ref, bound) : await store.deleteWhere(wanted);
  const stays = model.newer(now, meant);
  if (meant.category === undefined) expect(newer?.count ?? 0).toBe(stays);
  else expect(newer?.count ?? 0).toBeGreaterThanOrEqual(stays); // former values have their own categories
  expect(deleted).toBe(model.remove(now, meant));
}

/** The model: a list that each operation searches from start to end. */
class Model {
  #kept: Kept[] = [];
  /** The greatest number of each namespace when somebody looked last. */
  readonly looked = new Map<string, number>();
  /** Only the wait of a day changes it; the others are too short. */
  #deletableUntil = 0;

  put(entry: NewEntry, result: PutResult | undefined, now: number): void {
    if (result === undefined) throw new Error("one result for each entry");
    const before = this.#kept.find((kept) => sameRef(kept, entry));
    const alive = before !== undefined && isAlive(before, now) ? before : undefined;
    expect(result.entry.id === before?.id).toBe(alive !== undefined);
    expect(result.replaced).toEqual(
      alive && { updatedAt: alive.updatedAt, sameValue: text(alive.value) === text(entry.value) },
    );
    this.#kept = this.#kept.filter((kept) => kept !== before);
    const { id, revision } = result.entry;
    this.#kept.push({ ...entry, id, revision, createdAt: alive?.createdAt ?? now, updatedAt: now });
  }

  live(now: number, wanted: EntryFilter): readonly Kept[] {
    return this.#kept
      .filter((kept) => isAlive(kept, now) && isWanted(kept, wanted))
      .sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));
  }

  /** How many stay for the bound alone. */
  newer(now: number, { upTo = Number.MAX_SAFE_INTEGER, ...wanted }: EntryFilter): number {
    return this.live(now, wanted).filter(({ revision }) => revision > upTo).length;
  }

  remove(now: number, wanted: EntryFilter): number {
    const { length } = this.live(now, wanted);
    this.#kept = this.#kept.filter((kept) => !isWanted(kept, wanted));
    return length;
  }

  passDay(now: number): void {
    this.#deletableUntil = now - KEPT_EXPIRED_MS;
    this.sweep();
  }

  sweep(): number {
    const { length } = this.#kept;
    this.#kept = this.#kept.filter((kept) => isAlive(kept, this.#deletableUntil));
    return length - this.#kept.length;
  }
}

/** A reader that only sees the change feed. */
class Replica {
  readonly #seen = new Map<string, Map<EntryId, Kept>>();
  readonly #cursors = new Map<string, number>();

  async catchUp(store: MemoryStore, limit: number): Promise<void> {
    for (const one of NAMESPACES) {
      for (let more = true; more; ) more = await this.#step(store, one, limit);
    }
  }

  live(one: string, now: number): readonly string[] {
    return [...(this.#seen.get(one)?.values() ?? [])]
      .filter((kept) => isAlive(kept, now))
      .map(show)
      .sort();
  }

  async #step(store: MemoryStore, one: (typeof NAMESPACES)[number], limit: number): Promise<boolean> {
    const seen = this.#seen.get(one) ?? new Map<EntryId, Kept>();
    this.#seen.set(one, seen);
    const changes = await store.changes({ namespace: one, since: this.#cursors.get(one) ?? 0, limit });
    if (changes.kind === "start_over") {
      expect(this.#cursors.get(one) ?? 0).not.toBe(0);
      seen.clear();
      this.#cursors.set(one, 0);
      return true;
    }
    expect(changes.unreadable).toEqual([]);
    for (const entry of changes.upserts) seen.set(entry.id, entry);
    for (const id of changes.removed) seen.delete(id);
    this.#cursors.set(one, changes.cursor);
    return changes.more;
  }
}

async function listed(store: MemoryStore, query: Parameters<MemoryStore["list"]>[0]): Promise<string[]> {
  const page = await store.list(query);
  const shown = page.entries.map(show);
  if (page.nextCursor === undefined) return shown;
  return [...shown, ...(await listed(store, { ...query, cursor: page.nextCursor }))];
}

function isAlive(kept: { readonly expiresAt?: number }, now: number): boolean {
  return kept.expiresAt === undefined || now < kept.expiresAt;
}

function sameRef(a: NewEntry, b: NewEntry): boolean {
  return a.namespace === b.namespace && a.origin === b.origin && a.key === b.key;
}

function isWanted(kept: Kept, wanted: EntryFilter): boolean {
  const session = wanted.includeSessions === true && kept.namespace.startsWith(`${wanted.namespace}:`);
  return (
    (kept.namespace === wanted.namespace || session) &&
    (wanted.origins?.includes(kept.origin) ?? true) &&
    (wanted.category === undefined || kept.category === wanted.category) &&
    (wanted.key === undefined || kept.key === wanted.key) &&
    (wanted.upTo === undefined || kept.revision <= wanted.upTo) &&
    kept.key.startsWith(wanted.prefix ?? "")
  );
}

/** The fields of an entry that model, listing and feed must agree on. */
function show(kept: Kept): string {
  const { id, namespace: owner, origin, category, tags, createdAt, updatedAt, expiresAt } = kept;
  const shown = [owner, origin, kept.key, category, tags, createdAt, updatedAt, expiresAt ?? null];
  return JSON.stringify([...shown, id, text(kept.value)]);
}
