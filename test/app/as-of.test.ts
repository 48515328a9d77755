/** What a memory said at a time in the past: random histories against a plain model, and what must not come back. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
import { DAY_MS, openMemoryInProcess, openWithClock, TestClock } from "./fixtures/memories.ts";

/** A value as it was stored. Storing it again changes its time. */
interface Value {
  readonly key: string;
  readonly value: string;
  from: number;
  readonly expiresAt: number;
}

/** `next` took its place. It came with the facts of these keys, which were superseded: without them, nothing leads to it. */
interface Past {
  readonly value: Value;
  readonly next: Value;
  readonly cameWith: readonly string[];
}

interface Fact {
  readonly now: Value;
  readonly past: readonly Past[];
  /** What its last store changed. */
  readonly undo: { readonly own: Fact | undefined; readonly others: readonly Fact[] } | undefined;
}

class Model {
  facts = new Map<string, Fact>();

  store(now: Value, supersedes: readonly string[]): void {
    const own = this.facts.get(now.key);
    const others = supersedes.flatMap((key) => (key === now.key ? [] : (this.facts.get(key) ?? [])));
    if (own?.now.value === now.value && others.length === 0) {
      this.facts.set(now.key, { ...own, now: Object.assign(own.now, { ...now }) });
      return;
    }
    const retired = [...(own === undefined ? [] : [own]), ...others];
    const past = retired.flatMap((one) => [
      ...(one === own ? own.past : one.past.map((its) => cameWith(its, one.now.key))),
      { value: one.now, next: now, cameWith: [] },
    ]);
    for (const other of others) this.facts.delete(other.now.key);
    const undo = retired.length === 0 ? undefined : { own, others };
    this.facts.set(now.key, { now, past, undo });
  }

  note(one: Step, from: number): void {
    if (one.do === "store")
      this.store({ key: one.key, value: one.value, from, expiresAt: 0 }, one.supersedes);
    else this[one.do](one.key);
  }

  undo(key: string): void {
    const { undo } = this.facts.get(key) ?? {};
    if (undo === undefined || (undo.own === undefined && undo.others.length === 0)) return;
    this.facts.delete(key);
    for (const one of [undo.own, ...undo.others]) if (one !== undefined) this.facts.set(one.now.key, one);
  }

  forget(key: string): void {
    this.facts.delete(key);
    for (const [other, fact] of this.facts) this.facts.set(other, without(fact, key));
  }

  at(time: number): string[] {
    const held = [...this.facts.values()].flatMap(({ now, past }) => [
      ...(now.from <= time ? [now] : []),
      ...past.filter(({ value, next }) => value.from <= time && time < next.from).map(({ value }) => value),
    ]);
    const newest = new Map(held.sort((a, b) => a.from - b.from).map((one) => [one.key, one])); // of a key
    return [...newest.values()].map(({ key, value }) => `${key}=${value}`).sort();
  }
}

function cameWith(past: Past, key: string): Past {
  return { ...past, cameWith: [...past.cameWith, key] };
}

function without({ now, past, undo }: Fact, key: string): Fact {
  return {
    now,
    // Nothing tells when a value ended whose successor was forgotten.
    past: past.filter(({ value, next, cameWith }) => ![value.key, next.key, ...cameWith].includes(key)),
    undo: undo && {
      own: undo.own && without(undo.own, key),
      others: undo.others.filter((one) => one.now.key !== key).map((one) => without(one, key)),
    },
  };
}

const KEYS = ["a", "b", "c"];
const key = fc.constantFrom(...KEYS);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("store" as const),
      ...{
        key,
        value: fc.constantFrom<string>("1", "2", "3"),
        supersedes: fc.subarray(KEYS, { maxLength: 2 }),
      },
      days: fc.integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("undo" as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const), key }) },
);
type Step = typeof step extends fc.Arbitrary<infer Its> ? Its : never;
/** A history keeps ten values. */
const steps = fc.array(step, { minLength: 1, maxLength: 8 });

const HOUR_MS = 3_600_000;

async function take(
  memory: OpenMemory,
  subject: string,
  { ...one }: Step,
  ttlSeconds: number,
): Promise<boolean> {
  try {
    if (one.do === "store")
      await memory.storeFact(subject, {
        key: one.key,
        value: one.value,
        supersedes: one.supersedes,
        ttlSeconds,
      });
    else if (one.do === "undo") await memory.undoFact(subject, { key: one.key });
    else await memory.forget(subject, { scope: `key:${one.key}` });
    return true;
  } catch (error) {
    if (isHelmdeckError(error, "not_found") || isHelmdeckError(error, "invalid_input")) return false;
    throw error;
  }
}

async function saidAt(memory: OpenMemory, subject: string, asOf: number): Promise<string[]> {
  const { facts } = await memory.listFacts(subject, { asOf });
  const gotten = await Promise.all(KEYS.map((one) => memory.getFact(subject, { key: one, asOf })));
  const listed = facts.map((fact) => `${fact.key}=${fact.value}`).sort();
  expect(gotten.flatMap((fact) => (fact === undefined ? [] : [`${fact.key}=${fact.value}`])).sort()).toEqual(
    listed,
  );
  return listed;
}

async function openRig() {
  const clock = new TestClock();
  let number = 0;
  const subject = () => {
    number += 1;
    return `subject-${number}`;
  };
  return { memory: await openMemoryInProcess(clock.now), clock, subject };
}

type Rig = Awaited<ReturnType<typeof openRig>>;

/** Takes the steps, some time apart. Returns the times at and between them. */
async function live(
  { memory, clock }: Rig,
  whose: string,
  taken: readonly Step[],
  { apartMs, seen }: { readonly apartMs: number; readonly seen: Pick<Known, "note"> },
): Promise<readonly number[]> {
  const times = [clock.time];
  for (const one of taken) {
    clock.pass(apartMs);
    const days = one.do === "store" ? one.days : 1;
    if (await take(memory, whose, one, days * 86_400)) seen.note(one, clock.time);
    times.push(clock.time, clock.time + 1);
  }
  clock.pass(HOUR_MS);
  return times;
}

/** Lives longer than all steps take, or not; each value is another. */
function withDays(taken: readonly Step[], more: number): readonly Step[] {
  return taken.map((one, place) => {
    if (one.do !== "store") return one;
    return { ...one, days: one.days + more, value: more > 0 ? one.value : `${one.value} of ${place}` };
  });
}

describe("as of a time", () => {
  const numRuns = 30;
  test("each fact says what it said then, after stores, supersedes, undos and forgets", async () => {
    const rig = await openRig();
    const isAsModelled = async (taken: readonly Step[]) => {
      const [whose, model] = [rig.subject(), new Model()];
      const times = await live(rig, whose, withDays(taken, 300), { apartMs: HOUR_MS, seen: model });
      for (const time of times) expect(await saidAt(rig.memory, whose, time)).toEqual(model.at(time));
    };
    await fc.assert(fc.asyncProperty(steps, isAsModelled), { numRuns });
  });

  // verifies P-as-of-forgotten
  test("with expiry, no value comes back that was forgotten, not stored yet or had expired then", async () => {
    const rig = await openRig();
    const isKnown = async (taken: readonly Step[]) => {
      const [whose, known] = [rig.subject(), new Known()];
      const times = await live(rig, whose, withDays(taken, 0), { apartMs: DAY_MS, seen: known });
      for (const time of times) {
        const said = await saidAt(rig.memory, whose, time);
        expect(said.filter((one) => !known.at(time).has(one))).toEqual([]);
      }
    };
    await fc.assert(fc.asyncProperty(steps, isKnown), { numRuns });
  });
});

/** What was stored and not forgotten, whatever became of it. */
class Known {
  #stored: Value[] = [];

  note(one: Step, from: number): void {
    if (one.do === "store")
      this.#stored.push({ key: one.key, value: one.value, from, expiresAt: from + one.days * DAY_MS });
    if (one.do === "forget") this.#stored = this.#stored.filter(({ key: stored }) => stored !== one.key);
  }

  at(time: number): ReadonlySet<string> {
    const could = this.#stored.filter(({ from, expiresAt }) => from <= time && time < expiresAt);
    return new Set(could.map((one) => `${one.key}=${one.value}`));
  }
}

test("a list is filtered and paged as of then, and a history since then", async () => {
  const { clock, memory } = await openWithClock();
  const store = (fact: object) => memory.storeFact("main", { key: "x", value: "x", ...fact });
  await store({ key: "deploy/tool", value: "Konflux", category: "work" });
  clock.pass(DAY_MS);
  await store({ key: "deploy/day", value: "Friday", tags: ["week"] });
  const then = clock.time;
  clock.pass(DAY_MS);
  await store({ key: "deploy/tool", value: "Argo CD" });
  await store({ key: "deploy/new", value: "GitOps", supersedes: ["deploy/day"] });
  const keys = async (query: object) =>
    (await memory.listFacts("main", { asOf: then, ...query })).facts.map(({ value }) => value);
  expect(await keys({})).toEqual(["Friday", "Konflux"]);
  expect(await keys({ category: "work" })).toEqual(["Konflux"]);
  expect(await keys({ tag: "week" })).toEqual(["Friday"]);
  expect(await keys({ prefix: "deploy/t" })).toEqual(["Konflux"]);
  const first = await memory.listFacts("main", { asOf: then, limit: 1 });
  const next = await memory.listFacts("main", { asOf: then, limit: 1, cursor: first.nextCursor ?? "" });
  expect([first, next].map(({ facts }) => facts.map(({ value }) => value))).toEqual([
    ["Friday"],
    ["Konflux"],
  ]);
  expect(next.nextCursor).toBeUndefined();
  expect(await memory.getFact("main", { key: "helmdeck/work/deploy/tool.md", asOf: then })).toMatchObject({
    value: "Konflux",
  });
  expect(await memory.getFact("main", { key: "deploy/new", asOf: then })).toBeUndefined();
  await store({ key: "deploy/tool", value: "Flux" });
  const since = async (time: number) =>
    (await memory.factHistory("main", { key: "deploy/tool", since: time }))?.former.map(({ value }) => value);
  expect(await since(then)).toEqual(["Argo CD", "Konflux"]);
  expect(await since(clock.time)).toEqual([]);
  await expect(memory.listFacts("main", { asOf: Number.NaN })).rejects.toMatchObject({
    code: "invalid_input",
  });
  await expect(memory.listFacts("main", { asOf: then, expiring: true })).rejects.toMatchObject({
    code: "invalid_input",
  });
});

// verifies P-alone-subjects
test("nobody reads another's memory as of a time", async () => {
  const { clock, memory } = await openWithClock();
  await memory.storeFact("alice", { key: "tea", value: "Oolong" });
  const then = clock.time;
  clock.pass(DAY_MS);
  await memory.storeFact("alice", { key: "tea", value: "Sencha" });
  await memory.storeFact("bob", { key: "tea", value: "Mint" });
  expect(await memory.getFact("bob", { key: "tea", asOf: then })).toBeUndefined();
  expect((await memory.listFacts("bob", { asOf: then })).facts).toEqual([]);
  expect(await memory.getFact("alice", { key: "tea", asOf: then })).toMatchObject({ value: "Oolong" });
});
