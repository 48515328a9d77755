/** Watching a memory continues when its store is closed and another one is opened. */
import { expect, test } from "vitest";
import { Watches } from "../../../app/database-server/open-on-server.ts";
import { type Namespace, namespaceOf } from "../../../engine/store/namespace.ts";

const [ANA, BEN] = [namespaceOf("ana"), namespaceOf("ben")];

class Told {
  readonly #listeners = new Map<() => void, Namespace>();

  watch(namespace: Namespace, listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.set(own, namespace);
    return () => this.#listeners.delete(own);
  }

  tell(of: Namespace): void {
    for (const [listener, namespace] of this.#listeners) if (namespace === of) listener();
  }

  get count(): number {
    return this.#listeners.size;
  }
}

test("a watch is notified by each opened store, even if it began before", () => {
  const watches = new Watches();
  const heard: string[] = [];
  watches.begin(ANA, () => heard.push("ana"));
  const [first, second] = [new Told(), new Told()];
  watches.moveTo(first);
  watches.begin(BEN, () => heard.push("ben"));
  first.tell(ANA);
  first.tell(BEN);
  watches.moveTo(second);
  second.tell(BEN);
  second.tell(ANA);
  expect(heard).toEqual(["ana", "ben", "ben", "ana"]);
});

test("a closed watch is never notified", () => {
  const watches = new Watches();
  const heard: string[] = [];
  const [first, second] = [new Told(), new Told()];
  watches.moveTo(first);
  const end = watches.begin(ANA, () => heard.push("ana"));
  const endBefore = watches.begin(BEN, () => heard.push("ben"));
  endBefore();
  watches.moveTo(second);
  end();
  expect([first.count, second.count]).toEqual([1, 0]); // the first store is closed
  second.tell(ANA);
  expect(heard).toEqual([]);
});
