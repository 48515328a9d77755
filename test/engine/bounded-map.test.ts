import { describe, expect, test } from "vitest";
import { BoundedMap } from "../../engine/bounded-map.ts";

describe("a map of limited size", () => {
  test("drops what was set or used longest ago, and says so", () => {
    const dropped: number[] = [];
    const map = new BoundedMap<string, number>(2, { onEvict: (value) => dropped.push(value) });
    map.set("a", 1).set("b", 2);
    expect(map.use("a")).toBe(1);
    map.set("c", 3);
    expect([...map]).toEqual([
      ["a", 1],
      ["c", 3],
    ]);
    map.set("a", 4).set("d", 5);
    expect([...map.keys()]).toEqual(["a", "d"]);
    expect(dropped).toEqual([2, 3]);
  });

  test("does not take a look for a use", () => {
    const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2);
    expect([map.get("a"), map.has("a"), map.use("x")]).toEqual([1, true, undefined]);
    expect([...map.set("c", 3).keys()]).toEqual(["b", "c"]);
  });

  test("counts weights, as they were when the entry was set", () => {
    const map = new BoundedMap<string, string[]>(5, { weigh: ({ length }) => length });
    const grown = ["1"];
    map.set("a", grown).set("b", ["1", "2"]);
    grown.push("2", "3");
    expect(map.size).toBe(2);
    map.delete("a");
    map.set("c", ["1", "2", "3"]);
    expect([...map.keys()]).toEqual(["b", "c"]);
    map.clear();
    expect([...map.set("d", ["1", "2", "3", "4", "5"]).keys()]).toEqual(["d"]);
  });

  test("keeps the newest entry, however heavy", () => {
    const map = new BoundedMap<string, string>(3, { weigh: ({ length }) => length });
    expect([...map.set("a", "1").set("b", "12345").keys()]).toEqual(["b"]);
  });
});
