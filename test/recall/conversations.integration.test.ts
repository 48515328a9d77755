/** A lower bound for recall on conversations; skipped without the data, which is not in the repository. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { conversationsOfFolder } from "../../bench/recall/conversations.ts";
import { figuresOf } from "../../bench/recall/figures.ts";
import { askConversations } from "../../bench/recall/locomo.ts";
import { openBench } from "../../bench/recall/recall-systems.ts";

const DATA =
  process.env.HELMDECK_LOCOMO_DIR ??
  fileURLToPath(new URL("../../../shared/data/locomo-dev", import.meta.url));

test.skipIf(!existsSync(DATA))(
  "keyword search finds the evidence of LoCoMo's questions (skipped without the data)",
  async () => {
    const bench = await openBench();
    try {
      const conversations = conversationsOfFolder(DATA);
      const { asked, falseAlarms, possible } = await askConversations(bench, conversations, [
        "keywordUncut",
        "keyword",
      ]);
      const ranked = figuresOf(asked.get("keywordUncut") ?? []).recall;
      const shown = figuresOf(asked.get("keyword") ?? []).recall;
      expect(ranked[0]).toBeGreaterThan(0.65);
      expect(ranked[1]).toBeGreaterThan(0.75);
      expect(shown[0]).toBeGreaterThan(0.65);
      expect(shown[1]).toBeGreaterThan(0.75);
      expect(falseAlarms.get("keyword")).toBeLessThanOrEqual(0.05);
      expect(possible.get("keyword")).toBeLessThanOrEqual(1.6);
    } finally {
      await bench.close();
    }
  },
);
