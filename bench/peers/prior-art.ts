/** Other benches, and what each does better. */
import { textTable } from "../measured.ts";

const BENCHES: readonly (readonly [string, string, string, string])[] = [
  [
    "[locomo-eval](https://github.com/lancedb/locomo-eval)",
    "memory-core, memory-lancedb and memory-lancedb-pro in a local OpenClaw gateway, on LoCoMo",
    "Whole answers of an agent, to all ten conversations; the same chunks and vectors for each system, so that only the search differs.",
    "A paid model answers and judges.",
  ],
  [
    "[openclaw-memory-bench](https://github.com/phenomenoner/openclaw-memory-bench)",
    "openclaw-mem, memory-core and memu-engine by hits, precision, MRR, nDCG and latency",
    "Converts LongMemEval and others to one format; a manifest with hashes of the data in each report.",
    "Few systems; costs, the disk and agents are not measured.",
  ],
  [
    "[AMB](https://github.com/vectorize-io/agent-memory-benchmark)",
    "many memory services on several data sets, with a public leaderboard",
    "Data about agents' work, not only chats; an oracle mode that separates search from answering; cost beside accuracy.",
    "Two calls of a hosted model for each question; its authors build one of the systems, as we do.",
  ],
  [
    "[agent-memory-bench](https://github.com/GiulioDER/agent-memory-bench)",
    "memory for coding agents, by tests that pass or fail after a real task",
    "Measures whether memory helps and whether it harms; preregistered with vendors asked for review before a run; an admission gate that we learned from. Its authors build one of the systems, too.",
    "Needs a hosted model; as of 2026-08-29 no run of several products is published.",
  ],
  [
    "[PrecisionMemBench](https://github.com/tenurehq/precisionMemBench)",
    "89 cases that say what must and what must not be returned",
    "Noise is a failure and not only a cost; superseded facts and drift over a session; a data set and a paper.",
    "Its authors build one of the systems, and it passes all cases.",
  ],
  [
    "[MemCorrect](https://github.com/joshuaswarren/remnic/blob/main/docs/benchmarks/memcorrect.md)",
    "corrections of stored facts, over an interface that any memory can implement",
    "How soon a correction works, whether the old value comes back after maintenance or a new import, whether it harms other facts or other scopes, and whether hearsay counts as one; eight metrics on a corpus from a seed. Ours only asks which value is first.",
    "A part of Remnic, whose authors wrote it; we found no published results of other systems.",
  ],
];

export const PRIOR_ART = [
  "What we could read of each in November 2026. None of their figures was run again here.",
  textTable(["bench", "measures", "does better than ours", "why it did not answer the question"], BENCHES),
].join("\n\n");
