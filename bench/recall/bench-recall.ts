/**
 * `npm run bench:recall -- --help`: measures recall on everyday questions, on questions in other words than the fact, on facts that
 * people store and on conversations, and the effect of records of tool calls. Compares keywords, vectors and both.
 */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createBuiltInEmbedder } from "../../app/embedding/built-in-embedder.ts";
import { BuiltInModel } from "../../model/run-model.ts";
import type { Embedder } from "../../recall/embedder.ts";
import { createOllamaEmbedder, createOllamaSidecar } from "../../sidecar/ollama.ts";
import { gatherModel, gatherMultilingual, HAS_MULTILINGUAL } from "../../test/model/gathered.ts";
import { type BenchValues, requireUrl, runBench, WRITE, WrongOption } from "../bench-options.ts";
import { keepRaw, showSection, writeSection } from "../bench-report.ts";
import type { Measured } from "../measured.ts";
import { comparePairs, conflictsSection } from "./conflicts.ts";
import { type Conversation, conversationsOfFolder, conversationsOfPublished } from "./conversations.ts";
import { keepEmbeddings } from "./kept-embeddings.ts";
import { askKindsOfText, kindsOfTextSection } from "./kinds-of-text.ts";
import { askLanguages, languagesSection } from "./languages.ts";
import { askConversations, conversationsSection } from "./locomo.ts";
import { askNatural } from "./natural.ts";
import { naturalSection } from "./natural-section.ts";
import { askParaphrases, paraphrasesSection } from "./paraphrases.ts";
import { measurePeopleFacts, peopleFactsSection } from "./people-facts.ts";
import { measurePossibleHits, possibleHitsSection } from "./possible-hits.ts";
import { type Bench, openBench } from "./recall-systems.ts";
import { measureRequests, requestsSection } from "./requests.ts";
import { askForSure, sureSection } from "./sure-hits.ts";
import { askBesideCalls, besideCallsSection } from "./tool-calls.ts";
import { measureUnasked, unaskedSection } from "./unasked.ts";
import {
  askChanges,
  askCost,
  askNames,
  askTwoTopics,
  changesSection,
  costSection,
  namesSection,
  twoTopicsSection,
} from "./whole-answers.ts";

const DEFAULT_DATA = fileURLToPath(new URL("../../../shared/data/locomo-dev", import.meta.url));
/** The model that `npm run bench:embedder` serves. */
const DEFAULT_MODEL = "all-minilm:l6-v2";
const BUILTIN = "builtin";
const MULTILINGUAL = "multilingual";
const NO_EMBEDDER = "none";
/** Outside of the repository: vectors of private data may be among them. */
const KEPT_VECTORS = join(tmpdir(), "helmdeck-memory-bench");
const MODEL_FOLDER = join(KEPT_VECTORS, "model");

/** Undefined if there is nothing to read. The reason is then printed on standard error. */
function findConversations(
  data: string | undefined,
  locomo: string | undefined,
): readonly Conversation[] | undefined {
  if (locomo !== undefined) return conversationsOfPublished(locomo);
  const folder = data ?? process.env.HELMDECK_LOCOMO_DIR ?? DEFAULT_DATA;
  const conversations = existsSync(folder) ? conversationsOfFolder(folder) : [];
  if (conversations.length > 0) return conversations;
  console.error(
    "No conversations found. LoCoMo is not part of this repository (CC BY-NC 4.0). Either\n" +
      "  --locomo FILE  the published locomo10.json (github.com/snap-research/locomo), or\n" +
      "  --data DIR     a folder of NAME.facts.jsonl and NAME.questions.jsonl (or HELMDECK_LOCOMO_DIR).\n" +
      "Only the facts of test/data are measured now.",
  );
  return undefined;
}

/** The built-in model, or one on an Ollama server. Its vectors are kept, so a second run needs no model. */
export function benchEmbedder(named: string, model: string = DEFAULT_MODEL): Embedder | undefined {
  if (named === NO_EMBEDDER) return undefined;
  const find = async () => ({ ok: true, folder: await gatherModel(MODEL_FOLDER) }) as const;
  const findMultilingual = async () =>
    ({ ok: true, folder: await gatherMultilingual(`${MODEL_FOLDER}-multilingual`) }) as const;
  const embedder =
    named === BUILTIN || named === MULTILINGUAL
      ? createBuiltInEmbedder(
          find,
          named === BUILTIN ? "english" : "multilingual",
          new BuiltInModel({ find, findMultilingual }),
        )
      : createOllamaEmbedder(createOllamaSidecar({ address: named }), { model });
  return keepEmbeddings(embedder, KEPT_VECTORS);
}

interface Asking {
  readonly bench: Bench;
  readonly conversations: readonly Conversation[] | undefined;
  readonly embedder: Embedder | undefined;
  readonly embeddedBy: string;
}

/** By name, for `--only`. LoCoMo is left out if there are no conversations. */
const PARTS: Readonly<Record<string, (asking: Asking) => Promise<Measured | undefined>>> = {
  natural: async ({ bench, embeddedBy }) => naturalSection(await askNatural(bench), embeddedBy),
  paraphrases: async ({ bench, embeddedBy }) => paraphrasesSection(await askParaphrases(bench), embeddedBy),
  people: async ({ bench, embeddedBy }) => peopleFactsSection(await measurePeopleFacts(bench), embeddedBy),
  kinds: async ({ bench, embeddedBy }) => kindsOfTextSection(await askKindsOfText(bench), embeddedBy),
  languages: async ({ bench, embeddedBy }) => languagesSection(await askLanguages(bench), embeddedBy),
  sure: async ({ bench, embeddedBy }) => sureSection(await askForSure(bench), embeddedBy),
  conflicts: async ({ embedder, embeddedBy }) => conflictsSection(await comparePairs(embedder), embeddedBy),
  possible: async ({ bench, embeddedBy }) =>
    possibleHitsSection(await measurePossibleHits(bench), embeddedBy),
  names: async ({ bench, embeddedBy }) => namesSection(await askNames(bench), embeddedBy),
  topics: async ({ bench, embeddedBy }) => twoTopicsSection(await askTwoTopics(bench), embeddedBy),
  changes: async ({ bench, embeddedBy }) => changesSection(await askChanges(bench), embeddedBy),
  cost: async ({ bench, embeddedBy }) => costSection(await askCost(bench), embeddedBy),
  calls: async () => besideCallsSection(await askBesideCalls()),
  unasked: async ({ embedder, embeddedBy }) => unaskedSection(await measureUnasked(embedder), embeddedBy),
  requests: async () => requestsSection(measureRequests()),
  conversations: async ({ bench, conversations, embeddedBy }) =>
    conversations &&
    conversationsSection(conversations, await askConversations(bench, conversations), embeddedBy),
};

const BENCH = {
  script: "bench:recall",
  about: `Measures how well memory finds facts, by keywords, by vectors and by both. The sets and how to read the figures:
docs/howto/measure-recall.md.`,
  options: {
    only: {
      type: "string",
      multiple: true,
      value: "PART",
      choices: Object.keys(PARTS),
      about: "one part; may be repeated",
    },
    embedder: {
      type: "string",
      value: "builtin|multilingual|none|URL",
      default: BUILTIN,
      about: "the built-in model, that of many languages, keywords alone, or an Ollama server",
    },
    model: { type: "string", value: "NAME", about: `on that server (${DEFAULT_MODEL})` },
    locomo: { type: "string", value: "FILE", about: "LoCoMo's conversations as published, locomo10.json" },
    data: {
      type: "string",
      value: "DIR",
      about: "… of a folder of NAME.facts.jsonl and NAME.questions.jsonl",
    },
    write: WRITE,
  },
} as const;

async function main(values: BenchValues<typeof BENCH.options>): Promise<void> {
  const { only, locomo } = values;
  if (![BUILTIN, MULTILINGUAL, NO_EMBEDDER].includes(values.embedder))
    requireUrl("--embedder", values.embedder);
  if (values.embedder === MULTILINGUAL && !HAS_MULTILINGUAL)
    throw new WrongOption("--embedder multilingual: make its files first, see model/artefact/README.md.");
  if (locomo !== undefined && !existsSync(locomo)) throw new WrongOption(`--locomo: there is no ${locomo}.`);
  const conversations = findConversations(values.data, locomo);
  const embedder = benchEmbedder(values.embedder, values.model);
  const bench = await openBench(embedder);
  try {
    const model = values.embedder === BUILTIN ? "the built-in model" : embedder?.model;
    const embeddedBy = model === undefined ? "no embeddings" : `embedded by ${model}`;
    const sections: Measured[] = [];
    for (const [name, measure] of Object.entries(PARTS)) {
      if (only?.includes(name) === false) continue;
      const section = await measure({ bench, conversations, embedder, embeddedBy });
      if (section === undefined) continue;
      sections.push(section);
      showSection(section);
    }
    console.log(`\nRaw answers: ${keepRaw("recall", sections)}`);
    if (values.write) for (const section of sections) writeSection(section);
  } finally {
    await bench.close();
    embedder?.close();
  }
}

if (import.meta.main) await runBench(BENCH, main);
