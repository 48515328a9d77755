/** Forgotten text leaves memory: no string in the process contains it, even if other facts share its words. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { tempFolder } from "../app/fixtures/memories.ts";

const DUMP = fileURLToPath(new URL("fixtures/forget-and-dump.ts", import.meta.url));
/** Words long enough that V8 by default stores them as slices that keep the complete original text. */
const SHARED = "counterrevolutionaries 48291337005612345 Überraschungsgeschenke";

async function heapAfterForgetting(
  facts: readonly { key: string; value: string }[],
  forgotten: readonly string[],
): Promise<string> {
  const folder = await tempFolder();
  const factsPath = join(folder, "facts.json");
  const snapshotPath = join(folder, "process.heapsnapshot");
  writeFileSync(factsPath, JSON.stringify(facts));
  execFileSync(process.execPath, ["--expose-gc", DUMP, factsPath, snapshotPath, ...forgotten]);
  return readFileSync(snapshotPath, "utf8");
}

test("the index keeps neither the text nor the key of a forgotten fact, although others share its words and folder", async () => {
  const [gone, kept] = [randomBytes(12).toString("hex"), randomBytes(12).toString("hex")];
  const facts = [
    {
      key: `folder-of-some-length/${gone.slice(0, 8)}`,
      value: `Canary ${gone} and ${SHARED}, every Monday.`,
    },
    { key: "folder-of-some-length/other", value: `Kept ${kept} and ${SHARED}, every Tuesday.` },
  ];
  const before = await heapAfterForgetting(facts, []);
  expect(before).toContain(`Canary ${gone}`);
  const after = await heapAfterForgetting(facts, ["0"]);
  expect(after).toContain(`Kept ${kept}`);
  expect(after).not.toContain(gone.slice(0, 8));
});
