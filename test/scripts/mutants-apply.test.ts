/** Every mutant applies to the current code, so that `npm run test:mutants` never meets an outdated one. */
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { applyEdits, readMutants } from "../../scripts/mutants/mutants-list.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const mutants = await readMutants(join(root, "test", "mutants"));

test.each(mutants)("$name applies", async ({ edits }) => {
  const copy = await mkdtemp(join(tmpdir(), "helmdeck-memory-edits-"));
  try {
    for (const { file: edited } of edits) {
      await mkdir(dirname(join(copy, edited)), { recursive: true });
      await cp(join(root, edited), join(copy, edited));
    }
    expect(await applyEdits(edits, copy)).toBeUndefined();
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
});
