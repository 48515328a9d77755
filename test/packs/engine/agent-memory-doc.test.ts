/** docs/reference/agent-memory.md: its example runs as printed, and its numbers equal those in the code. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { LEARNABLE_FIELDS } from "../../../engine/audit/learnable.ts";
import { PACK_LIMITS } from "../../../packs/engine/define-pack.ts";
import { tempFolder } from "../../app/fixtures/memories.ts";

const PAGE = new URL("../../../docs/reference/agent-memory.md", import.meta.url);
const page = readFileSync(PAGE, "utf8");

test("the example prints the output that the page shows", async () => {
  const [, example = "", printed = ""] =
    /```ts\n(import .*?)```\n\nprints\n\n```text\n(.*?)```/s.exec(page) ?? [];
  const file = join(await tempFolder(), "example.ts");
  await writeFile(file, withResolvedImports(example));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file]);
  expect(stderr).toBe("");
  expect(stdout).toBe(printed);
});

test("the page names every limit and every field that defaults are learnt from", () => {
  for (const field of LEARNABLE_FIELDS) expect(page).toContain(`\`${field}\``);
  for (const limit of [
    PACK_LIMITS.nameCharacters,
    PACK_LIMITS.descriptionCharacters,
    PACK_LIMITS.mostTtlSeconds,
  ]) {
    expect(page).toContain(limit.toLocaleString("en"));
  }
});

/** The example is in a folder of its own, so its imports are resolved. */
function withResolvedImports(example: string): string {
  const resolve = (specifier: string): string =>
    specifier.startsWith(".") ? new URL(specifier, PAGE).href : import.meta.resolve(specifier);
  return example.replaceAll(/from "((?!node:)[^"]+)"/g, (_, specifier) => `from "${resolve(specifier)}"`);
}
