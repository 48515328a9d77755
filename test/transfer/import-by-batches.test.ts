/** What an import into a served engine does when that fails in the middle. */
import { describe, expect, test } from "vitest";
import type { FactsInput, Memory, StoredFacts } from "../../app/memory.ts";
import { importByBatches } from "../../app/transfer/import-by-batches.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");

function stored(key: string) {
  return { key, category: "user_facts", expiresAt: NOW, path: `helmdeck/user_facts/${key}.md` };
}

/** Imports three facts into a memory that answers so. */
function importInto(answer: (facts: FactsInput["facts"]) => StoredFacts["results"]) {
  const memory: Pick<Memory, "listFacts" | "storeFacts"> = {
    listFacts: async () => ({ facts: [], unreadable: [] }),
    storeFacts: async (_, { facts }) => ({ results: answer(facts), refused: 0 }),
  };
  const lines = ["a", "b", "c"].map((key) => `${JSON.stringify({ key, value: "v" })}\n`).join("");
  return importByBatches({
    ...{ memory, subject: "main", writer: { surface: "cli" }, now: NOW, onConflict: "newer" },
    files: [{ name: "facts.jsonl", open: () => piecesOf(lines) }],
  });
}

async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

// verifies P-engine-honest
describe("an import into a served engine", () => {
  test.each([
    [
      "whose memory fails in the middle",
      "store_unavailable",
      (facts: FactsInput["facts"]) =>
        facts.map(({ key }, n) =>
          n !== 1 ? stored(key) : { key, error: "store_unavailable" as const, message: "It is lost." },
        ),
    ],
    [
      "that leaves out a result",
      "engine_unavailable",
      (facts: FactsInput["facts"]) => facts.slice(1).map(({ key }) => stored(key)),
    ],
  ])("%s says that only some may be there, and how to continue", async (_what, code, answer) => {
    await expect(importInto(answer)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(
        "Imported: 2. Not imported, as far as is known: 1. Import the same files again to continue.",
      ),
    });
  });

  test("counts what it answers", async () => {
    const result = await importInto((facts) =>
      facts.map(({ key }) =>
        key === "b"
          ? { key, error: "secret_refused" as const, message: "It looks like a token." }
          : stored(key),
      ),
    );
    expect(result).toMatchObject({
      stored: 2,
      refusedCount: 1,
      refused: [{ line: 2, code: "secret_refused" }],
    });
  });
});
