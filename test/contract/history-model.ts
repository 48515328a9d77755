/** Contract, as a property: after stores, supersedes, undos, forgets and expiries, the store equals a model of plain objects. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HISTORY_LIMITS, isHelmdeckError } from "../../engine/index.ts";
import { ANA, fact, type OpenRig, refTo, START, type StoreRig, text } from "./rig.ts";

type Step =
  | {
      readonly do: "store";
      readonly key: string;
      readonly value: string;
      readonly supersedes: readonly string[];
      readonly lives: number | undefined;
    }
  | { readonly do: "undo" | "forget"; readonly key: string }
  | { readonly do: "wait"; readonly ms: number };

interface Former {
  readonly key: string;
  readonly value: string;
  readonly expiresAt: number | undefined;
}

/** The former values that one store kept. A value is undefined once it was forgotten or dropped from the history. */
interface Change {
  own: Former | undefined;
  readonly superseded: { former: Former | undefined; readonly changes: Change[] }[];
}

interface Fact {
  readonly now: Former;
  readonly changes: Change[];
}

const KEYS = ["a", "b", "c", "d"];
const key = fc.constantFrom(...KEYS);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("store" as const),
      key,
      value: fc.constantFrom("1", "2", "3"),
      supersedes: fc.subarray(KEYS, { maxLength: 2 }),
      lives: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
    }),
  },
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
    case "store": {
      const { lives, supersedes } = step;
      const expiresAt = lives === undefined ? undefined : clock.now + lives;
      const entry = fact(step.key, step.value, expiresAt === undefined ? {} : { expiresAt });
      const { superseded } = await store.put(entry, { supersedes });
      expect(superseded).toEqual(model.store({ key: step.key, value: step.value, expiresAt }, supersedes));
      return;
    }
    case "undo": {
      const undone = await store.undo(refTo(step.key)).catch((error: unknown) => {
        if (isHelmdeckError(error, "invalid_input")) return "refused" as const;
        throw error;
      });
      const restored = typeof undone === "object" ? undone.restored.map((entry) => entry.key) : undone;
      expect(restored).toEqual(model.undo(step.key));
      return;
    }
    case "forget":
      await store.delete(refTo(step.key));
      model.forget(step.key);
  }
}

async function compare({ store }: StoreRig, model: Model): Promise<void> {
  for (const one of KEYS) {
    expect([one, text((await store.get(refTo(one)))?.value)]).toEqual([one, model.fact(one)?.now.value]);
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
  readonly #facts = new Map<string, Fact>();

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
    this.#facts.set(now.key, { now, changes });
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
    if (own !== undefined)
      this.#facts.set(name, { now: own, changes: present.changes.with(at ?? 0, orphans) });
    for (const { former, changes } of back) if (former) this.#facts.set(former.key, { now: former, changes });
    return [...(own === undefined ? [] : [name]), ...back.map(({ former }) => former?.key ?? "")];
  }

  forget(name: string): void {
    this.#facts.delete(name);
    for (const { changes } of this.#facts.values()) drop(changes, (former) => former.key === name);
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
