/** Read-only commands change nothing: another program's database stays byte for byte the same. */
import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectUntouched, LEFT } from "./foreign-databases.ts";
import { InProcessHome } from "./in-process.ts";

let home: InProcessHome;
beforeEach(() => {
  home = new InProcessHome();
});
afterEach(() => home.remove());

// verifies P-look-changes-nothing
describe.each(Object.entries(LEFT))("another program's database %s", (_, make) => {
  test("is unchanged by every command, and no key is created for it", async () => {
    await home.write("facts.jsonl", '{"key":"k","value":"v"}\n');
    await expectUntouched(make, home.path("theirs"), (args) => home.run(args));
    expect(existsSync(home.keyPath)).toBe(false);
  });
});
