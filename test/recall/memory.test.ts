/** Forgotten text leaves memory: no string in the process contains it, even if other facts share its words. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const DUMP = fileURLToPath(new URL("fixtures/forget-and-dump.ts", import.meta.url));
/** Words long enough that V8 by default stores them as slices that keep the complete original text. */
const SHARED = "counterrevolutionaries 48291337005612345 Überraschungsgeschenke";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "helmdeck-forget-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function heapAfterForgetting(
  facts: readonly { key: string; value: string }[],
  forgotten: readonly string[],
): string {
  const factsPath = join(folder, "facts.json");
  const snapshotPath = join(folder, "process.heapsnapshot");
  writeFileSync(factsPath, JSON.stringify(facts));
  execFileSync(process.execPath, ["--expose-gc", DUMP, factsPath, snapshotPath, ...forgotten]);
  return readFileSync(snapshotPath, "utf8");
}

test("the index keeps neither the text nor the key of a forgotten fact, although others share its words and folder", () => {
  const [gone, kept] = [randomBytes(12).toString("hex"), randomBytes(12).toString("hex")];
  const facts = [
    {
      key: `folder-of-some-length/${gone.slice(0, 8)}`,
      value: `Canary ${gone} and ${SHARED}, every Monday.`,
    },
    { key: "folder-of-some-length/other", value: `Kept ${kept} and ${SHARED}, every Tuesday.` },
  ];
  const before = heapAfterForgetting(facts, []);
  expect(before).toContain(`Canary ${gone}`);
  const after = heapAfterForgetting(facts, ["0"]);
  expect(after).toContain(`Kept ${kept}`);
  expect(after).not.toContain(gone.slice(0, 8));
});
