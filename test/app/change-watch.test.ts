/** A process that stays notices what others write, and what it is told of no more it does not look at. */
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { ChangeWatch } from "../../app/embedding/change-watch.ts";
import { type Namespace, namespaceOf } from "../../engine/index.ts";
import { FakeClock } from "../sidecar/fake-clock.ts";

const ANA = namespaceOf("ana");
const LOOK_EVERY_MS = 15_000;

function watching() {
  const clock = new FakeClock();
  const revisions = new Map<Namespace, number>();
  const looked: Namespace[] = [];
  const changed: Namespace[] = [];
  const state = { isDown: false };
  const watch = new ChangeWatch({
    revision: async (namespace) => {
      looked.push(namespace);
      if (state.isDown) throw new Error("store_locked");
      return revisions.get(namespace) ?? 0;
    },
    onChange: (namespace) => changed.push(namespace),
    timer: clock.timer,
  });
  const look = async () => {
    clock.advance(LOOK_EVERY_MS);
    await setImmediate();
  };
  return { watch, clock, revisions, looked, changed, state, look };
}

test("tells a change once, whoever made it, and nothing while nothing changes", async () => {
  const { watch, revisions, changed, look } = watching();
  watch.follow(ANA);
  await look();
  changed.length = 0; // the first look is the first there is
  await look();
  expect(changed).toEqual([]);
  revisions.set(ANA, 1);
  await look();
  await look();
  expect(changed).toEqual([ANA]);
});

test("looks again after a look that failed", async () => {
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

test("looks at the sixteen that were used last", async () => {
  const { watch, looked, look } = watching();
  const all = Array.from({ length: 17 }, (_, at) => namespaceOf(`caller ${at}`));
  for (const namespace of all) watch.follow(namespace);
  await look();
  expect(looked).toEqual(all.slice(1));
});

test("never looks again once it is closed", async () => {
  const { watch, clock, looked, look } = watching();
  watch.follow(ANA);
  watch.close();
  await look();
  expect([looked, clock.pending]).toEqual([[], []]);
});
