/**
 * Contract, as a property: after stores, supersedes, imports, undos, renewals, forgets and expiries, the store equals a model of
 * plain objects.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ErrorCode, isHelmdeckError } from "../../engine/errors.ts";
import { HISTORY_LIMITS } from "../../engine/rules/history.ts";
import {
  CONFLICT_RULES,
  type ConflictRule,
  type MemoryStore,
  type NewEntry,
} from "../../engine/store/memory-store.ts";
import { ANA, fact, type OpenRig, refTo, START, type StoreRig, text } from "./rig.ts";

type Step =
  | {
      readonly do: "store";
      readonly key: string;
      readonly value: string;
      readonly supersedes: readonly string[];
      readonly lives: number | undefined;
      /** `free`: only if the key is free. `seen`: only if no superseded fact was written since the last look. */
      readonly only: "free" | "seen" | undefined;
    }
  | {
      readonly do: "import";
      readonly key: string;
      readonly value: string;
      readonly lives: number | undefined;
      readonly rule: ConflictRule;
      readonly age: number;
    }
  | { readonly do: "renew"; readonly key: string; readonly lives: number }
  | { readonly do: "undo" | "forget"; readonly key: string }
  | { readonly do: "look" }
  | { readonly do: "wait"; readonly ms: number };

type Life = Pick<Extract<Step, { readonly do: "import" }>, "key" | "value" | "lives">;

interface Former {
  readonly key: string;
  readonly value: string;
  readonly expiresAt: number | undefined;
  readonly updatedAt: number;
}

/** The former values that one store kept. A value is undefined once it was forgotten or dropped from the history. */
interface Change {
  own: Former | undefined;
  readonly superseded: { former: Former | undefined; readonly changes: Change[] }[];
}

interface Fact {
  readonly now: Former;
  readonly changes: Change[];
  /** When it was written, counted in writes. */
  readonly write: number;
}

const KEYS = ["a", "b", "c", "d"];
const key = fc.constantFrom(...KEYS);
const value = fc.constantFrom("1", "2", "3");
const lives = fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("store" as const),
      ...{ key, value, lives },
      supersedes: fc.subarray(KEYS, { maxLength: 2 }),
      only: fc.constantFrom(undefined, undefined, "free", "seen"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("import" as const),
      ...{ key, value, lives },
      rule: fc.constantFrom(...CONFLICT_RULES),
      age: fc.nat(40),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("renew" as const), key, lives: fc.integer({ min: 1, max: 60 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "look" as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("undo" as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const), key }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 20 }) }),
  },
);

export function describeHistoryModel(open: OpenRig, numRuns: number): void {
  describe("any sequence of corrections", () => {
    test("has the same result as a model of plain objects", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const rig = await open();
          try {
            const model = new Model();
            for (const one of steps) {
              await take(rig, model, one);
              await compare(rig, model);
            }
          } finally {
            await rig.dispose();
          }
        }),
        { numRuns },
      );
    }, 120_000);
  });
}

async function take({ store, clock }: StoreRig, model: Model, step: Step): Promise<void> {
  switch (step.do) {
    case "wait":
      clock.now += step.ms;
      model.now = clock.now;
      return;
    case "store":
      expect(await stored(store, model, step)).toEqual(model.storeOnly(step));
      return;
    case "import": {
      const now = model.formerOf(step, clock.now - step.age);
      const [result] = await store.putMany([factOf(now, { updatedAt: now.updatedAt })], {
        onConflict: step.rule,
      });
      expect(result?.kept ?? false).toBe(model.import(now, step.rule));
      return;
    }
    case "renew": {
      const expiresAt = clock.now + step.lives;
      const renewed = await store.renew(refTo(step.key), () => ({ expiresAt }));
      expect(renewed?.expiresAt).toBe(model.renew(step.key, expiresAt));
      return;
    }
    case "look":
      model.look(await store.revision(ANA));
      return;
    case "undo": {
      const undone = await store.undo(refTo(step.key)).catch(refused("invalid_input"));
      const restored = typeof undone === "object" ? undone.restored.map((entry) => entry.key) : undone;
      expect(restored).toEqual(model.undo(step.key));
      return;
    }
    case "forget":
      await store.delete(refTo(step.key));
      model.forget(step.key);
  }
}

async function stored(
  store: MemoryStore,
  model: Model,
  { only, supersedes, ...step }: Extract<Step, { readonly do: "store" }>,
): Promise<readonly string[] | "refused"> {
  const conditions = {
    ...(only === "free" && { ifRevision: 0 }),
    ...(only === "seen" && { upTo: model.looked }),
  };
  const entry = factOf(model.formerOf(step, model.now));
  const put = await store.put(entry, { supersedes, ...conditions }).catch(refused("changed_meanwhile"));
  return put === "refused" ? put : put.superseded;
}

function refused(code: ErrorCode) {
  return (error: unknown): "refused" => {
    if (isHelmdeckError(error, code)) return "refused";
    throw error;
  };
}

function factOf({ key: name, value: text, expiresAt }: Former, more: Partial<NewEntry> = {}): NewEntry {
  return fact(name, text, { ...more, ...(expiresAt === undefined ? {} : { expiresAt }) });
}

async function compare({ store }: StoreRig, model: Model): Promise<void> {
  for (const one of KEYS) {
    const [there, meant] = [await store.get(refTo(one)), model.fact(one)?.now];
    expect([one, text(there?.value), there?.expiresAt]).toEqual([one, meant?.value, meant?.expiresAt]);
    expect([one, there?.updatedAt]).toEqual([one, meant?.updatedAt]);
    const history = await store.history(refTo(one));
    expect(history.map((former) => `${former.key}: ${text(former.value)}`)).toEqual(model.history(one));
  }
  const { keys } = await store.formerKeys({ namespace: ANA });
  for (const one of KEYS) {
    expect(keys.filter(({ of }) => of.key === one).length).toBeLessThanOrEqual(HISTORY_LIMITS.kept);
  }
}

class Model {
  now = START;
  /** The store's number when somebody looked last. */
  looked = 0;
  readonly #facts = new Map<string, Fact>();
  #writes = 0;
  #writesSeen = 0;

  fact(name: string): Fact | undefined {
    const found = this.#facts.get(name);
    return found !== undefined && this.#isAlive(found.now) ? found : undefined;
  }

  history(name: string): readonly string[] {
    return formersOf(this.fact(name)?.changes ?? [])
      .filter((former) => this.#isAlive(former))
      .map((former) => `${former.key}: ${former.value}`)
      .reverse();
  }

  look(revision: number): void {
    this.looked = revision;
    this.#writesSeen = this.#writes;
  }

  formerOf({ key: name, value: text, lives: ms }: Life, updatedAt: number): Former {
    return { key: name, value: text, expiresAt: ms === undefined ? undefined : this.now + ms, updatedAt };
  }

  storeOnly({ only, supersedes, ...step }: Extract<Step, { readonly do: "store" }>) {
    const isSeen = (name: string) => name === step.key || (this.fact(name)?.write ?? 0) <= this.#writesSeen;
    if (only === "free" && this.fact(step.key) !== undefined) return "refused";
    if (only === "seen" && !supersedes.every(isSeen)) return "refused";
    return this.store(this.formerOf(step, this.now), supersedes);
  }

  /** Returns whether the existing fact was kept. */
  import(now: Former, rule: ConflictRule): boolean {
    const there = this.fact(now.key)?.now;
    const isNewer = there !== undefined && there.updatedAt > now.updatedAt;
    const isEqual = there !== undefined && there.updatedAt === now.updatedAt;
    const livesAsLong = (there?.expiresAt ?? Infinity) >= (now.expiresAt ?? Infinity);
    const isKept =
      rule === "keep" ? there !== undefined : rule === "newer" && (isNewer || (isEqual && livesAsLong));
    if (!isKept) this.store(now, []);
    return isKept;
  }

  /** Returns the fact's end. */
  renew(name: string, expiresAt: number): number | undefined {
    const present = this.fact(name);
    if (present === undefined) return undefined;
    this.#set({ ...present, now: { ...present.now, expiresAt } });
    return expiresAt;
  }

  store(now: Former, supersedes: readonly string[]): readonly string[] {
    const before = this.fact(now.key);
    const retired = supersedes.filter((name) => name !== now.key).flatMap((name) => this.fact(name) ?? []);
    for (const one of retired) this.#facts.delete(one.now.key);
    const changes = [...(before?.changes ?? [])];
    const isSame = before?.now.value === now.value && retired.length === 0;
    const own = isSame ? undefined : before?.now;
    if (own !== undefined || retired.length > 0) {
      changes.push({ own, superseded: retired.map((one) => ({ former: one.now, changes: one.changes })) });
    }
    const doomed = new Set(formersOf(changes).slice(0, -HISTORY_LIMITS.kept));
    drop(changes, (former) => doomed.has(former));
    this.#set({ now, changes });
    return retired.map((one) => one.now.key);
  }

  /** Returns the keys of the facts that it restored. */
  undo(name: string): readonly string[] | "refused" | undefined {
    const present = this.fact(name);
    const at = present?.changes.findLastIndex(({ own, superseded }) =>
      [own, ...superseded.map((s) => s.former)].some(Boolean),
    );
    const last = at === undefined ? undefined : present?.changes[at];
    if (present === undefined || last === undefined) return undefined;
    const own = last.own !== undefined && this.#isAlive(last.own) ? last.own : undefined;
    const back = last.superseded.filter(({ former }) => former !== undefined && this.#isAlive(former));
    if (own === undefined && back.length === 0) return undefined;
    if (back.some(({ former }) => former !== undefined && this.fact(former.key) !== undefined))
      return "refused";
    const orphans = {
      own: undefined,
      superseded: last.superseded.filter(({ former }) => former === undefined),
    };
    this.#facts.delete(name);
    if (own !== undefined) this.#set({ now: own, changes: present.changes.with(at ?? 0, orphans) });
    for (const { former, changes } of back) if (former) this.#set({ now: former, changes });
    return [...(own === undefined ? [] : [name]), ...back.map(({ former }) => former?.key ?? "")];
  }

  forget(name: string): void {
    this.#facts.delete(name);
    for (const { changes } of this.#facts.values()) drop(changes, (former) => former.key === name);
  }

  #set({ now, changes }: Pick<Fact, "now" | "changes">): void {
    this.#writes += 1;
    this.#facts.set(now.key, { now, changes, write: this.#writes });
  }

  #isAlive({ expiresAt }: Former): boolean {
    return expiresAt === undefined || this.now < expiresAt;
  }
}

/** Former values, the oldest first. */
function formersOf(changes: readonly Change[]): readonly Former[] {
  return changes.flatMap(({ own, superseded }) => [
    ...superseded.flatMap((one) => formersOf(one.changes)),
    ...superseded.flatMap(({ former }) => former ?? []),
    ...(own === undefined ? [] : [own]),
  ]);
}

function drop(changes: readonly Change[], isDoomed: (former: Former) => boolean): void {
  for (const change of changes) {
    if (change.own !== undefined && isDoomed(change.own)) change.own = undefined;
    for (const one of change.superseded) {
      if (one.former !== undefined && isDoomed(one.former)) one.former = undefined;
      drop(one.changes, isDoomed);
    }
  }
}
