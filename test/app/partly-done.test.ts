/** What is done in several parts and fails between them says which were done, and never that nothing was. */
import { expect, test } from "vitest";
import type { OpenMemory } from "../../app/compose.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { changedMeanwhile } from "../../engine/rules/conditions.ts";
import { importNotes, textFile } from "../transfer/notes.ts";
import { openTestMemory } from "./fixtures/memories.ts";

type Part = "putMany" | "undo" | "deleteWhere" | "renew";

/** Lets some calls through, and fails all others. */
function failAfter(memory: OpenMemory, part: Part, calls: number, error: HelmdeckError): void {
  const store: Record<string, unknown> = memory.store as unknown as Record<string, unknown>; // its methods by name
  const real = (memory.store[part] as (...given: unknown[]) => Promise<unknown>).bind(memory.store);
  let left = calls;
  store[part] = (...given: unknown[]) => {
    left -= 1;
    return left >= 0 ? real(...given) : Promise.reject(error);
  };
}

const FULL = new HelmdeckError("store_full", "The disk is full.", { unchanged: "Nothing was written." });
const notes = (count: number, said = "v") =>
  textFile(Array.from({ length: count }, (_none, index) => `- Item ${index}: ${said}\n`).join(""));
const lines = (count: number) =>
  textFile(Array.from({ length: count }, (_none, index) => `{"key":"k${index}","value":"v"}\n`).join(""));

/** Two facts that an import replaced. */
async function replaced(memory: OpenMemory): Promise<string> {
  await importNotes(memory, "markdown", [notes(2)]);
  const { importId } = await importNotes(memory, "markdown", [notes(2, "new")]);
  return `import:${importId}`;
}

test.each<[string, RegExp, (memory: OpenMemory) => Promise<unknown>]>([
  [
    "an import of notes beyond the quota",
    /^The memory of "main" is full: it may hold 800 entries\. Forget .* Imported: 750\. Not imported, as far as is known: 251\. Import the same files again to continue\. To undo it, forget import:/,
    (memory) => importNotes(memory, "markdown", [notes(1_001)]),
  ],
  [
    "an import of lines beyond the quota",
    /Imported: 750\. Not imported, as far as is known: 250\. Import the same files again to continue\.$/,
    (memory) => importNotes(memory, "jsonl", [lines(1_000)]),
  ],
  [
    "an import whose later file is of another format",
    /is not Markdown: it looks like JSON .* Imported: 250\. Not imported, as far as is known: 50\. /,
    (memory) => importNotes(memory, "markdown", [notes(300), textFile("[]", "notes/b.md")]),
  ],
  [
    "an import on a disk that fills up",
    /^The disk is full\. Imported: 250\. Not imported, as far as is known: 350\. /,
    (memory) => {
      failAfter(memory, "putMany", 1, FULL);
      return importNotes(memory, "jsonl", [lines(600)]);
    },
  ],
  [
    "an import of which nothing was written",
    /^The disk is full\. Imported: 0\. Not imported, as far as is known: 3\. /,
    (memory) => {
      failAfter(memory, "putMany", 0, FULL);
      return importNotes(memory, "markdown", [notes(3)]);
    },
  ],
  [
    "forgetting an import, while its facts go back",
    /^The disk is full\. Restored: 1 of the facts that the import had replaced\. Nothing else was forgotten; forget the import again to continue\.$/,
    async (memory) => {
      const scope = await replaced(memory);
      failAfter(memory, "undo", 1, FULL);
      return memory.forget("main", { scope });
    },
  ],
  [
    "forgetting an import, after its facts went back",
    /^The disk is full\. Restored: 2 of the facts/,
    async (memory) => {
      const scope = await replaced(memory);
      failAfter(memory, "deleteWhere", 0, FULL);
      return memory.forget("main", { scope });
    },
  ],
  [
    "keeping facts apart, of which one changes meanwhile",
    /meanwhile: .* Read it again, then repeat the change\. Marked: 1 of 2 facts\. Only pairs of marked facts are settled\.$/,
    async (memory) => {
      for (const key of ["a", "b"]) await memory.storeFact("main", { key, value: "v" });
      failAfter(memory, "renew", 1, changedMeanwhile(7));
      return memory.keepApart("main", { keys: ["a", "b"] });
    },
  ],
])("%s", async (_what, message, work) => {
  const memory = await openTestMemory({ env: { HELMDECK_MEMORY_MAX_ENTRIES: "800" } });
  const error: unknown = await work(memory).catch((failure: unknown) => failure);
  expect(error).toMatchObject({ message: expect.stringMatching(message) });
  expect(String(error)).not.toMatch(/nothing was (written|changed|deleted)/i);
});
