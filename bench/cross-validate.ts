/** Chooses the ranking's main parameters on all conversations but one, and measures on that one: `node bench/cross-validate.ts [DIR]`. */
import { fileURLToPath } from "node:url";
import { recallOverStore } from "../app/corpus-source.ts";
import { namespaceOf } from "../engine/index.ts";
import { createRecall, type Ranking } from "../recall/index.ts";
import { mean } from "./measured.ts";
import { type BenchMemory, openBenchMemory } from "./recall/bench-memory.ts";
import { type Conversation, conversationsOfFolder } from "./recall/conversations.ts";
import { type Asked, figuresOf } from "./recall/figures.ts";

const DATA = process.argv[2] ?? fileURLToPath(new URL("../../shared/data/locomo-dev", import.meta.url));

const GRID: readonly Partial<Ranking>[] = [0.3, 0.5, 0.8].flatMap((saturation) =>
  [0.6, 0.7, 0.8].flatMap((threadContext) =>
    [3, 4, 5].flatMap((reach) =>
      [0.2, 0.35, 0.5].map((bm25Share) => ({ saturation, threadContext, reach, bm25Share })),
    ),
  ),
);

/** Recall at 5 and at 10. */
type Pair = readonly [at5: number, at10: number];

/** Per parameter set, per conversation. */
async function measureGrid(
  memory: BenchMemory,
  conversations: readonly Conversation[],
): Promise<readonly Pair[][]> {
  const rows: Pair[][] = [];
  for (const ranking of GRID) {
    const source = recallOverStore(memory.memory.store);
    const recall = createRecall({ source, now: Date.now, ranking: { ...ranking, cutOff: false } });
    const row: Pair[] = [];
    for (const { name, questions } of conversations) {
      const asked: Asked[] = [];
      for (const question of questions) {
        const { results } = await recall.search(namespaceOf(name), { query: question.question, limit: 10 });
        asked.push({ question, keys: results.map(({ key }) => key), ms: 0 });
      }
      const [at5 = 0, at10 = 0] = figuresOf(asked).recall;
      row.push([at5, at10]);
    }
    recall.close();
    rows.push(row);
  }
  return rows;
}

function report(rows: readonly Pair[][], conversations: readonly Conversation[]): void {
  const heldOut = conversations.map(({ name }, place) => {
    const onOthers = rows.map((row) =>
      mean(row.filter((_, other) => other !== place).map(([at5, at10]) => at5 + at10)),
    );
    const chosen = onOthers.indexOf(Math.max(...onOthers));
    const [at5, at10] = rows[chosen]?.[place] ?? [Number.NaN, Number.NaN];
    console.log(
      `${name}: ${at5.toFixed(3)} @5, ${at10.toFixed(3)} @10, chosen without it ${JSON.stringify(GRID[chosen])}`,
    );
    return { at5, at10, weight: conversations[place]?.questions.length ?? 0 };
  });
  const all = heldOut.reduce((sum, { weight }) => sum + weight, 0);
  const overall = (pick: "at5" | "at10") =>
    heldOut.reduce((sum, one) => sum + one[pick] * one.weight, 0) / all;
  console.log(`held out: ${overall("at5").toFixed(3)} @5, ${overall("at10").toFixed(3)} @10`);
}

const conversations = conversationsOfFolder(DATA);
const memory = await openBenchMemory();
try {
  for (const { name, facts } of conversations) await memory.fill(name, facts);
  report(await measureGrid(memory, conversations), conversations);
} finally {
  await memory.close();
}
