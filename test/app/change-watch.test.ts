/** A long-lived process notices other processes' writes, and stops watching memories that are no longer followed. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ChangeWatch, type ChangeWatchOptions } from "../../app/embedding/change-watch.ts";
import { type Namespace, namespaceOf } from "../../engine/store/namespace.ts";
import { FakeClock } from "../sidecar/fake-clock.ts";

const ANA = namespaceOf("ana");
const LOOK_EVERY_MS = 15_000;

function watching(watch?: ChangeWatchOptions["watch"]) {
  const clock = new FakeClock();
  const revisions = new Map<Namespace, number>();
  const looked: Namespace[] = [];
  const changed: Namespace[] = [];
  const state = { isDown: false };
  const watcher = new ChangeWatch({
    revision: async (namespace) => {
      looked.push(namespace);
      if (state.isDown) throw new Error("store_locked");
      return revisions.get(namespace) ?? 0;
    },
    onChange: (namespace) => changed.push(namespace),
    timer: clock.timer,
    watch,
  });
  const look = async () => {
    clock.advance(LOOK_EVERY_MS);
    await setImmediate();
  };
  return { watch: watcher, clock, revisions, looked, changed, state, look };
}

test("a watch reports a change by any process once, and nothing without a change", async () => {
  const { watch, revisions, changed, look } = watching();
  watch.follow(ANA);
  await look();
  changed.length = 0; // the first look always reports a change
  await look();
  expect(changed).toEqual([]);
  revisions.set(ANA, 1);
  await look();
  await look();
  expect(changed).toEqual([ANA]);
});

test("a watch checks again after a failed check", async () => {
  const { watch, revisions, changed, state, look } = watching();
  watch.follow(ANA);
  await look();
  changed.length = 0;
  state.isDown = true;
  revisions.set(ANA, 1);
  await look();
  expect(changed).toEqual([]);
  state.isDown = false;
  await look();
  expect(changed).toEqual([ANA]);
});

test("a watch checks the sixteen most recently used memories", async () => {
  const { watch, looked, look } = watching();
  const all = Array.from({ length: 17 }, (_, at) => namespaceOf(`caller ${at}`));
  for (const namespace of all) watch.follow(namespace);
  await look();
  expect(looked).toEqual(all.slice(1));
});

describe("a watch with notifications from the database", () => {
  function told() {
    const listeners = new Map<Namespace, () => void>();
    const watch = (namespace: Namespace, listener: () => void) => {
      listeners.set(namespace, listener);
      return () => void listeners.delete(namespace);
    };
    return { listeners, ...watching(watch) };
  }

  test("checks a memory soon after a notification, once for several changes, and no other", async () => {
    const { watch, clock, listeners, revisions, looked, changed } = told();
    watch.follow(ANA);
    watch.follow(namespaceOf("ben"));
    revisions.set(ANA, 1);
    listeners.get(ANA)?.();
    listeners.get(ANA)?.();
    expect(looked).toEqual([]); // the watch waits a moment, so that the writer can finish
    clock.advance(3_000);
    await setImmediate();
    expect([looked, changed]).toEqual([[ANA], [ANA]]);
  });

  test("finds a change without a notification", async () => {
    const { watch, clock, revisions, changed } = told();
    watch.follow(ANA);
    clock.advance(5 * 60_000);
    await setImmediate();
    changed.length = 0;
    revisions.set(ANA, 1);
    clock.advance(5 * 60_000);
    await setImmediate();
    expect(changed).toEqual([ANA]);
  });

  test("is notified about the memories that it follows, and about none after it is closed", async () => {
    const { watch, clock, listeners } = told();
    const all = Array.from({ length: 17 }, (_, at) => namespaceOf(`caller ${at}`));
    for (const namespace of all) watch.follow(namespace);
    expect([...listeners.keys()]).toEqual(all.slice(1));
    listeners.get(namespaceOf("caller 5"))?.();
    watch.close();
    expect([listeners.size, clock.pending]).toEqual([0, []]);
  });
});

test("a watch does not check again after it is closed", async () => {
  const { watch, clock, looked, look } = watching();
  watch.follow(ANA);
  watch.close();
  await look();
  expect([looked, clock.pending]).toEqual([[], []]);
});
