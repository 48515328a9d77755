/**
 * Measures the memory that the indexes of many small memories take, in a separate process:
 * `node --max-semi-space-size=8 --expose-gc bench-many.ts` prints the figures of one run.
 */

import { fileURLToPath } from "node:url";
import { namespaceOf } from "../../engine/store/namespace.ts";
import { createRecall } from "../../recall/recall.ts";
import { type Measured, table } from "../measured.ts";
import { measureInChild } from "../processes.ts";
import { madeQuestion } from "./made-facts.ts";
import { madeEntries } from "./search-systems.ts";

const NAMESPACES = 10_000;
/** Enough that none is evicted. */
const LIMIT_BYTES = 2 ** 30;

interface Sample {
  readonly residentMb: number;
  /** Objects, texts and number arrays that are in use. */
  readonly aliveMb: number;
  readonly cpuMs: number;
}

export async function measureMany(): Promise<Measured> {
  const sample = measureInChild<Sample>("--max-semi-space-size=8", fileURLToPath(import.meta.url)); // as in `serve`
  return {
    title: "Many small memories",
    command: "npm run bench:speed -- --only many",
    markdown: [
      `The keyword indexes of ${NAMESPACES.toLocaleString("en")} memories of one or two facts, each searched once, in one process with the size for new objects that \`serve\` has.`,
      "",
      table(
        ["", "MB"],
        [
          ["more resident than before", sample.residentMb.toFixed(0)],
          ["in use", sample.aliveMb.toFixed(0)],
        ],
      ),
    ].join("\n"),
    json: sample,
  };
}

async function fillMany(): Promise<Sample> {
  const now = () => Date.UTC(2028, 0, 1);
  const before = memoryNow();
  const recall = createRecall({
    source: {
      changes: async (namespace) => {
        const number = Number(namespace.split(" ").at(-1));
        const upserts = madeEntries(2 * number, 1 + (number % 2), namespace);
        return { kind: "changes", upserts, removed: [], cursor: 1, more: false };
      },
    },
    now,
    limits: { limitBytes: LIMIT_BYTES },
  });
  for (let number = 0; number < NAMESPACES; number += 1) {
    await recall.search(namespaceOf(`caller ${number}`), { query: madeQuestion(number, 2 * NAMESPACES) });
  }
  const { user, system } = process.cpuUsage();
  const after = memoryNow();
  recall.close();
  return {
    residentMb: after.residentMb - before.residentMb,
    aliveMb: after.aliveMb - before.aliveMb,
    cpuMs: (user + system) / 1_000,
  };
}

function memoryNow() {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { residentMb: rss / 2 ** 20, aliveMb: (heapUsed + external) / 2 ** 20 };
}

if (import.meta.main) console.log(JSON.stringify(await fillMany()));
