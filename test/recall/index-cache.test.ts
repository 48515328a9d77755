/**
 * The index cache is limited by size and idle time. It keeps thousands of small indexes and a large one, but none
 * permanently.
 */
import { describe, expect, test } from "vitest";
import { type Namespace, namespaceOf } from "../../engine/store/namespace.ts";
import { IndexCache, type IndexCacheOptions } from "../../recall/index-cache.ts";
import { NamespaceIndex } from "../../recall/namespace-index.ts";
import type { SemanticIndex } from "../../recall/vectors/semantic-contract.ts";
import { FakeClock } from "../sidecar/fake-clock.ts";
import { WritableSource } from "./corpus.ts";

const [ANA, BEN, CLEO, DAN] = ["ana", "ben", "cleo", "dan"].map((name) => namespaceOf(name)) as [
  ...[Namespace, Namespace, Namespace, Namespace], // one for each name
];
const SMALL = [{ key: "a", value: "The kayak is crimson." }];
const LARGE = Array.from({ length: 200 }, (_, number) => ({
  key: `k${number}`,
  value: `canoe number ${number}`,
}));

/** Gives each namespace its own source, which is small unless the test says otherwise. */
class Rig {
  readonly cache: IndexCache;
  readonly clock = new FakeClock();
  readonly large: ReadonlySet<Namespace>;
  /** The namespaces whose indexes were read from the beginning, in order. */
  readonly built: Namespace[] = [];
  onPage: (since: number) => void = () => {};
  readonly #sources = new Map<Namespace, WritableSource>();

  constructor(options: Partial<IndexCacheOptions> & { readonly large?: readonly Namespace[] } = {}) {
    this.large = new Set(options.large);
    const { now: clock, timer } = this.clock;
    const changes: IndexCacheOptions["source"]["changes"] = (namespace, since, limit) => {
      if (since === 0) this.built.push(namespace);
      this.onPage(since);
      return this.sourceOf(namespace).changes(namespace, since, limit);
    };
    this.cache = new IndexCache({ source: { changes }, clock: clock.bind(this.clock), timer, ...options });
  }

  sourceOf(namespace: Namespace): WritableSource {
    const known =
      this.#sources.get(namespace) ?? new WritableSource(this.large.has(namespace) ? LARGE : SMALL);
    this.#sources.set(namespace, known);
    return known;
  }

  async ask(...namespaces: readonly Namespace[]): Promise<void> {
    for (const namespace of namespaces) await this.cache.use(namespace, (index) => index.catchUp());
  }

  /** The namespaces whose indexes had to be rebuilt for a query. */
  async builtFor(...namespaces: readonly Namespace[]): Promise<readonly Namespace[]> {
    this.built.length = 0;
    await this.ask(...namespaces);
    return [...this.built];
  }
}

async function bytesOf(facts: typeof SMALL): Promise<number> {
  const index = new NamespaceIndex(ANA, { source: new WritableSource(facts) });
  await index.catchUp();
  return index.sizeBytes;
}

const small = await bytesOf(SMALL);
const large = await bytesOf(LARGE);

describe("the size limit", () => {
  test("a thousand small memories are all kept", async () => {
    const rig = new Rig();
    const owners = Array.from({ length: 1_000 }, (_, number) => namespaceOf(`owner ${number}`));
    await rig.ask(...owners);
    expect(await rig.builtFor(...owners)).toEqual([]);
  });

  test("the least recently used are evicted, and built again on demand", async () => {
    const rig = new Rig({ limits: { limitBytes: 2.5 * small } });
    await rig.ask(ANA, BEN, ANA, CLEO);
    expect(await rig.builtFor(ANA, CLEO)).toEqual([]);
    expect(await rig.builtFor(BEN)).toEqual([BEN]);
  });

  test("several small ones are evicted for a larger one", async () => {
    const rig = new Rig({ limits: { limitBytes: large + 1.5 * small }, large: [DAN] });
    await rig.ask(ANA, BEN, CLEO, DAN);
    expect(await rig.builtFor(DAN, CLEO)).toEqual([]);
    expect(await rig.builtFor(ANA)).toEqual([ANA]);
  });

  test("an index that alone exceeds the limit is kept, and evicts no small one", async () => {
    const rig = new Rig({ limits: { limitBytes: 3.5 * small }, large: [DAN] });
    expect(large).toBeGreaterThan(3.5 * small);
    await rig.ask(DAN, ANA, BEN, CLEO);
    expect(await rig.builtFor(DAN, ANA, DAN, BEN, DAN, CLEO, DAN)).toEqual([]);
  });

  test("of two that exceed the limit, the most recently used one is kept", async () => {
    const rig = new Rig({ limits: { limitBytes: 2.5 * small }, large: [CLEO, DAN] });
    await rig.ask(ANA, CLEO, BEN, DAN);
    expect(await rig.builtFor(ANA, BEN, DAN)).toEqual([]);
    expect(await rig.builtFor(CLEO)).toEqual([CLEO]);
  });

  test("each search has the whole index, even with very little memory, and it is evicted afterwards", async () => {
    const rig = new Rig({ limits: { limitBytes: 1.5 * small } });
    const owners = Array.from({ length: 12 }, (_, number) => namespaceOf(`owner ${number}`));
    const gate = Promise.withResolvers<void>();
    const counts = Promise.all(
      owners.map((owner) =>
        rig.cache.use(owner, async (index) => {
          await index.catchUp();
          await gate.promise;
          return index.index.documentCount;
        }),
      ),
    );
    gate.resolve();
    expect(await counts).toEqual(owners.map(() => 1));
    // One fits; which one was used last depends on the machine.
    expect((await rig.builtFor(...owners)).length).toBeGreaterThanOrEqual(owners.length - 1);
  });

  test("of large memories that are searched at once, four are read; others wait with nothing in memory, and say so", async () => {
    const owners = Array.from({ length: 6 }, (_, number) => namespaceOf(`owner ${number}`));
    const rig = new Rig({ large: owners, batchSize: 20 });
    const gate = Promise.withResolvers<void>();
    for (const owner of owners)
      Object.assign(rig.sourceOf(owner), { gate: gate.promise, gatesFirstPage: false });
    const search = (owner: Namespace) => rig.cache.use(owner, (index) => index.catchUp());
    const all = Promise.all(owners.map(search));
    await expect.poll(() => rig.built.length).toBe(4 * 2 + 2); // a look at each, and the first page of four
    const meanwhile = await Promise.all(
      owners.map((owner) =>
        rig.cache.use(owner, async (index) => [await index.catchUpWithin(0), index.index.documentCount]),
      ),
    );
    expect(meanwhile).toEqual([...Array(4).fill([undefined, 20]), ...Array(2).fill([undefined, 0])]);
    expect((await search(ANA)).index.documentCount).toBe(1);
    gate.resolve();
    expect((await all).map(({ index }) => index.documentCount)).toEqual(owners.map(() => LARGE.length));
  });

  test("a large memory that cannot be read to its end gives its place back", async () => {
    const owners = Array.from({ length: 5 }, (_, number) => namespaceOf(`owner ${number}`));
    const rig = new Rig({ large: owners, batchSize: 20 });
    rig.onPage = (since) => {
      if (since > 0) throw new Error("gone");
    };
    for (const owner of owners) await expect(rig.ask(owner)).rejects.toThrow("gone");
    rig.onPage = () => {};
    await rig.ask(...owners);
    expect(rig.cache.counts.kept).toBe(5);
  });

  test("an index whose search did not wait for it is read to its end", async () => {
    const rig = new Rig({ limits: { limitBytes: 0.5 * small } });
    const gate = Promise.withResolvers<void>();
    rig.sourceOf(ANA).gate = gate.promise;
    let view: Promise<unknown> | undefined;
    await rig.cache.use(ANA, async (index) => {
      view = index.catchUp();
    });
    await rig.ask(BEN);
    gate.resolve();
    await expect(view).resolves.toBeDefined();
  });
});

describe("vectors", () => {
  /** The parts that an index uses. */
  class Vectors {
    readonly bytes = new Map<Namespace, number>();
    readonly grown = new Map<Namespace, () => void>();
    readonly dropped: Namespace[] = [];
    isSettled = true;

    get index(): SemanticIndex {
      const follow = (namespace: Namespace, _readAgain: unknown, grown: () => void) => {
        this.grown.set(namespace, grown);
        return new Follower(this, namespace);
      };
      return { follow } as unknown as SemanticIndex; // the index uses nothing else here
    }
  }

  class Follower {
    readonly #of: Vectors;
    readonly #namespace: Namespace;

    constructor(of: Vectors, namespace: Namespace) {
      this.#of = of;
      this.#namespace = namespace;
    }

    get isSettled(): boolean {
      return this.#of.isSettled;
    }

    get sizeBytes(): number {
      return this.#of.bytes.get(this.#namespace) ?? 0;
    }

    changed(): void {}
    caughtUp(): void {}
    startOver(): void {}
    drop(): void {
      this.#of.dropped.push(this.#namespace);
    }
  }

  test("count towards the size limit, also if they arrive after the last search, and are evicted with their index", async () => {
    const vectors = new Vectors();
    const rig = new Rig({ limits: { limitBytes: 10 * small }, semantic: vectors.index });
    await rig.ask(ANA, BEN);
    vectors.bytes.set(BEN, 9 * small);
    vectors.grown.get(BEN)?.();
    expect(vectors.dropped).toEqual([ANA]);
  });

  test("memory is freed while a large memory is still being read", async () => {
    const vectors = new Vectors();
    const rig = new Rig({
      ...{ limits: { limitBytes: small + 1.5 * large }, large: [DAN], batchSize: 20 },
      semantic: vectors.index,
    });
    vectors.bytes.set(ANA, large);
    const droppedBy = new Map<number, readonly Namespace[]>();
    await rig.ask(ANA);
    rig.onPage = (since) => droppedBy.set(since, [...vectors.dropped]);
    await rig.ask(DAN);
    expect(droppedBy.get(0)).toEqual([]);
    expect([...droppedBy.values()].at(-1)).toEqual([ANA]);
  });

  test("that are still being made keep an idle index", async () => {
    const vectors = new Vectors();
    const rig = new Rig({ limits: { idleMs: 60_000 }, semantic: vectors.index });
    await rig.ask(ANA);
    vectors.isSettled = false;
    rig.clock.advance(120_000);
    expect(vectors.dropped).toEqual([]);
    vectors.isSettled = true;
    rig.clock.advance(60_000);
    expect(vectors.dropped).toEqual([ANA]);
  });
});

describe("idle indexes", () => {
  test("an index is dropped exactly after the idle time, whatever else is used meanwhile", async () => {
    const rig = new Rig({ limits: { idleMs: 60_000 } });
    await rig.ask(ANA, BEN);
    for (let quarter = 1; quarter <= 3; quarter += 1) {
      rig.clock.advance(15_000);
      await rig.ask(BEN);
    }
    expect(await rig.builtFor(ANA, BEN)).toEqual([]);
    for (let quarter = 1; quarter <= 5; quarter += 1) {
      rig.clock.advance(15_000);
      await rig.ask(BEN);
    }
    expect(await rig.builtFor(ANA, BEN)).toEqual([ANA]);
  });

  test("an index in use is kept, however long that takes", async () => {
    const rig = new Rig({ limits: { idleMs: 60_000 } });
    const gate = Promise.withResolvers<void>();
    const count = rig.cache.use(ANA, async (index) => {
      await index.catchUp();
      await gate.promise;
      return index.index.documentCount;
    });
    await expect.poll(() => rig.built).toEqual([ANA]);
    rig.clock.advance(600_000);
    gate.resolve();
    expect(await count).toBe(1);
  });

  test("no check runs when nothing is cached, after close, and without a time limit", async () => {
    const rig = new Rig({ limits: { idleMs: 60_000 } });
    expect(rig.clock.pending).toEqual([]);
    await rig.ask(ANA);
    expect(rig.clock.pending).toEqual([15_000]);
    rig.clock.advance(600_000);
    expect(rig.clock.pending).toEqual([]);
    await rig.ask(BEN);
    rig.cache.close();
    expect(rig.clock.pending).toEqual([]);
    const forEver = new Rig();
    await forEver.ask(ANA);
    expect(forEver.clock.pending).toEqual([]);
  });
});
