/** A pack engine with a real memory, real sessions and real artifacts, and with a clock and a timer that the test controls. */
import { onTestFinished } from "vitest";
import * as z from "zod";
import type { OpenMemory } from "../../../app/compose.ts";
import { parseAuditEntry } from "../../../engine/audit/audit-entries.ts";
import type { PackAudit } from "../../../engine/audit/audit-rows.ts";
import { HelmdeckError } from "../../../engine/errors.ts";
import type { Entry, EntryRef, MemoryStore, Origin } from "../../../engine/store/memory-store.ts";
import { namespaceOf, type Subject } from "../../../engine/store/namespace.ts";
import { betterSqliteDriver } from "../../../engine/store/sqlite/better-sqlite-driver.ts";
import type { Timer } from "../../../engine/timing.ts";
import type {
  ArtifactStore,
  Pack,
  PackEngine,
  PackRequest,
  SessionProvider,
} from "../../../packs/engine/pack-contract.ts";
import { createPackEngine, type PackEngineOptions } from "../../../packs/engine/pack-engine.ts";
import { openLocalArtifacts } from "../../../packs/local/local-artifacts.ts";
import { openLocalSessions } from "../../../packs/local/local-sessions.ts";
import { openTestMemory, TestClock, tempFolder } from "../../app/fixtures/memories.ts";

export interface PackRig {
  readonly engine: PackEngine;
  readonly memory: OpenMemory;
  readonly store: MemoryStore;
  readonly clock: TestClock;
  readonly timer: HandTimer;
  readonly artifacts: ArtifactStore;
  readonly sessions: SessionProvider;
  /** Rows and cache entries that the engine reported as lost, oldest first. */
  readonly lost: { readonly rows: PackAudit[]; readonly cache: string[] };
  /** The rows of a caller's runs, in the order in which they ended. */
  rows(caller?: Subject): Promise<readonly PackAudit[]>;
  entries(origin: Origin, caller?: Subject): Promise<readonly Entry[]>;
  /** Corrupts the stored bytes of one entry without the store's knowledge. */
  damage(ref: EntryRef): Promise<void>;
  /** Another engine with the same memory, sessions and artifacts. */
  another(packs: readonly Pack[], more?: Partial<PackEngineOptions>): PackEngine;
}

export const ANA: Subject = "ana";

export async function openPackRig(
  packs: readonly Pack[],
  more: Partial<PackEngineOptions> = {},
  wrap: (store: MemoryStore) => MemoryStore = (store) => store,
): Promise<PackRig> {
  const clock = new TestClock();
  const timer = new HandTimer();
  const memory = await openTestMemory({ now: clock.now });
  const artifacts = await openLocalArtifacts({ root: await tempFolder(), now: clock.now });
  const sessions = await openLocalSessions({ root: await tempFolder(), keepMs: 60_000 });
  onTestFinished(() => sessions.close());
  const store = wrap(memory.store);
  const lost = { rows: [] as PackAudit[], cache: [] as string[] };
  const another: PackRig["another"] = (others, options = {}) => {
    const engine = createPackEngine({
      packs: others,
      store,
      recordRun: (caller, row) => memory.recordPackRun(caller, row),
      sessions,
      artifacts,
      now: clock.now,
      monotonicMs: clock.now,
      timer: timer.timer,
      onAuditFailure: (_, row) => lost.rows.push(row),
      onCacheFailure: (error) => lost.cache.push(error.code),
      ...options,
    });
    onTestFinished(() => closeNow(engine, timer));
    return engine;
  };
  const entries: PackRig["entries"] = async (origin, caller = ANA) =>
    (await memory.store.list({ namespace: namespaceOf(caller), origin })).entries;
  return {
    engine: another(packs, more),
    memory,
    store,
    clock,
    timer,
    artifacts,
    sessions,
    lost,
    rows: async (caller) => {
      const found = (await entries("audit", caller)).toSorted((a, b) =>
        a.key.slice(-20) < b.key.slice(-20) ? -1 : 1,
      );
      return found.flatMap((entry) => {
        const audit = parseAuditEntry(entry);
        return audit?.kind === "pack" ? [audit.row] : [];
      });
    },
    entries,
    damage: async ({ namespace, origin, key }) => {
      const { databasePath } = await memory.status();
      const connection = await betterSqliteDriver.open(databasePath, "write");
      connection
        .prepare(
          "UPDATE entries SET sealed = zeroblob(length(sealed)) WHERE namespace = ? AND origin = ? AND key = ?",
        )
        .run(namespace, origin, key);
      connection.close();
    },
    another,
  };
}

/** A pack with the test's code as its handler. */
export const packThat = (run: Pack["run"], more: Partial<Pack> = {}): Pack => ({
  ...{ name: "probe", version: "1.0.0", description: "A probe.", input: z.unknown(), output: z.unknown() },
  ...more,
  run,
});

/** A request of Ana, who has a token. */
export function ask(pack: string, input: unknown = {}, more: Partial<PackRequest> = {}): PackRequest {
  return { pack, input, caller: ANA, authenticated: true, ...more };
}

/** The error of a run. Fails the test if the run succeeds. */
export async function failureOf(run: Promise<unknown>): Promise<HelmdeckError> {
  const error = await run.then(
    () => new Error("the run went well"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof HelmdeckError) return error;
  throw error;
}

/** The same object with some of its methods replaced. */
export function overridden<Thing extends object>(thing: Thing, methods: Partial<Thing>): Thing {
  return new Proxy(thing, {
    get: (target, name) => {
      const member: unknown = Reflect.get(Object.hasOwn(methods, name) ? methods : target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** A promise, and a function that resolves it. */
export function gate<T = void>(): { readonly opened: Promise<T>; readonly open: (value: T) => void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { opened: promise, open: resolve };
}

/** Time for deadlines and grace periods. It passes only when the test advances it. */
class HandTimer {
  #time = 0;
  readonly #waiting = new Set<{ readonly callback: () => void; readonly due: number }>();

  readonly timer: Timer = (callback, delayMs) => {
    const wait = { callback, due: this.#time + delayMs };
    this.#waiting.add(wait);
    return () => this.#waiting.delete(wait);
  };

  /** The number of timers that have neither fired nor been cancelled. */
  get waiting(): number {
    return this.#waiting.size;
  }

  pass(milliseconds: number): void {
    this.#time += milliseconds;
    for (const wait of this.#waiting) {
      if (wait.due > this.#time) continue;
      this.#waiting.delete(wait);
      wait.callback();
    }
  }
}

/** Lets the grace periods of `close` pass, so that the engine closes even if a test leaves a handler hanging. */
async function closeNow(engine: PackEngine, timer: HandTimer): Promise<void> {
  let closed = false;
  void engine.close().then(() => {
    closed = true;
  });
  for (let turn = 0; turn < MOST_CLOSING_TURNS && !closed; turn += 1) {
    timer.pass(10_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A limit for the clean-up. The tests themselves find an engine that does not close. */
const MOST_CLOSING_TURNS = 10_000;
