/** A workload as a list, for the process that carries it out and for the test that checks the result. */
import type { MemoryStore, NewEntry } from "../../engine/store/memory-store.ts";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { Random } from "./random.ts";

export type Operation =
  | { readonly do: "put"; readonly facts: readonly Fact[] }
  /** Puts of one moment, which share a transaction. */
  | { readonly do: "putTogether"; readonly facts: readonly Fact[] }
  | { readonly do: "delete"; readonly key: string }
  | { readonly do: "deleteWhere"; readonly prefix: string }
  | { readonly do: "reopen" };

interface Fact {
  readonly key: string;
  readonly value: string;
}

/** A store's contents: values by key. */
export type Held = ReadonlyMap<string, string>;

const OWNER = namespaceOf("ana");
const KEYS = 4;
const GROUPS = ["deploy/", "home/", "team/"] as const;
const LONGEST_PADDING = 1_200;

/** Stores, overwrites, renews, forgets and stores many. There are few keys, so that operations often affect the same entries. */
export function operationsOf(seed: number, length: number): readonly Operation[] {
  const random = new Random(seed);
  return Array.from({ length }, (_, n) => drawOperation(random, n));
}

function drawOperation(random: Random, n: number): Operation {
  const kind = random.next();
  if (kind < 0.6) return { do: "put", facts: [drawFact(random, n)] };
  if (kind < 0.78) return { do: n % 2 === 0 ? "putTogether" : "put", facts: drawFacts(random, n) };
  if (kind < 0.9) return { do: "delete", key: drawKey(random) };
  if (kind < 0.96) return { do: "deleteWhere", prefix: random.pick(GROUPS) };
  return { do: "reopen" };
}

function drawFacts(random: Random, n: number): readonly Fact[] {
  const length = 2 + random.below(4);
  return Array.from({ length }, () => drawFact(random, n));
}

function drawFact(random: Random, n: number): Fact {
  return { key: drawKey(random), value: `${n}: ${"x".repeat(random.below(LONGEST_PADDING))}` };
}

function drawKey(random: Random): string {
  return `${random.pick(GROUPS)}${random.below(KEYS)}`;
}

/** The contents before the first operation and after each one. */
export function heldAfterEach(operations: readonly Operation[]): readonly Held[] {
  const all: Held[] = [new Map()];
  for (const operation of operations) all.push(heldAfter(all.at(-1) ?? new Map(), operation));
  return all;
}

export function heldAfter(before: Held, operation: Operation): Held {
  const held = new Map(before);
  if (operation.do === "put" || operation.do === "putTogether")
    for (const { key, value } of operation.facts) held.set(key, value);
  if (operation.do === "delete") held.delete(operation.key);
  if (operation.do === "deleteWhere")
    for (const key of before.keys()) if (key.startsWith(operation.prefix)) held.delete(key);
  return held;
}

/** With `lifeMs`, entries expire that long after the store's current time. */
export async function carryOut(store: MemoryStore, operation: Operation, lifeMs?: number): Promise<void> {
  if (operation.do === "put" || operation.do === "putTogether") {
    const life = lifeMs === undefined ? {} : { expiresAt: store.now() + lifeMs };
    const entries = operation.facts.map((fact) => ({ ...entryOf(fact), ...life }));
    if (operation.do === "putTogether") await allPut(entries.map((entry) => store.put(entry)));
    else await (entries.length === 1 && entries[0] ? store.put(entries[0]) : store.putMany(entries));
  }
  if (operation.do === "delete") await store.delete({ namespace: OWNER, origin: "fact", key: operation.key });
  if (operation.do === "deleteWhere")
    await store.deleteWhere({ namespace: OWNER, origins: ["fact"], prefix: operation.prefix });
}

/** Throws the first failure when all are settled. */
async function allPut(puts: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(puts);
  await Promise.all(puts);
}

function entryOf({ key, value }: Fact): NewEntry {
  return {
    namespace: OWNER,
    origin: "fact",
    key,
    value: Buffer.from(value),
    category: "user_facts",
    tags: [],
  };
}

/** The store's current contents; throws if an entry cannot be decrypted. */
export async function heldIn(store: Pick<MemoryStore, "list">): Promise<Held> {
  const { entries, unreadable } = await store.list({ namespace: OWNER, limit: 1_000 });
  if (unreadable.length > 0) throw new Error(`${unreadable.length} entries do not open`);
  return new Map(entries.map(({ key, value }) => [key, Buffer.from(value).toString()]));
}

export function isSame(one: Held, other: Held | undefined): boolean {
  return one.size === other?.size && [...one].every(([key, value]) => other.get(key) === value);
}
