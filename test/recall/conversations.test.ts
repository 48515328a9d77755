/** A floor under recall on conversations; the data is not in the repository, so elsewhere this test is skipped. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { conversationsOfFolder } from "../../bench/recall/conversations.ts";
import { figuresOf } from "../../bench/recall/figures.ts";
import { openBenchMemory } from "../../bench/recall/memory.ts";
import { askConversations } from "../../bench/recall.ts";

const DATA =
  process.env.HELMDECK_LOCOMO_DIR ??
  fileURLToPath(new URL("../../../shared/data/locomo-dev", import.meta.url));

test.skipIf(!existsSync(DATA))(
  "keywords find the evidence of LoCoMo's questions (skipped where the data is absent)",
  async () => {
    const memory = await openBenchMemory();
    try {
      const answers = await askConversations(memory, conversationsOfFolder(DATA));
      const ranked = figuresOf(answers.ranked).recall;
      const shown = figuresOf(answers.shown).recall;
      expect(ranked[0]).toBeGreaterThan(0.65);
      expect(ranked[1]).toBeGreaterThan(0.75);
      expect(shown[0]).toBeGreaterThan(0.65);
      expect(shown[1]).toBeGreaterThan(0.75);
      expect(answers.falseAlarms).toBeLessThanOrEqual(0.05);
    } finally {
      await memory.close();
    }
  },
);
