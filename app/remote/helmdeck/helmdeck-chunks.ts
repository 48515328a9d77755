/**
 * Parses the responses of helmdeck's memory endpoint as facts.
 *
 * The content is untrusted: anything that does not exactly match helmdeck's format is skipped and counted, and the category,
 * which goes into paths and prompts, is converted to a valid one.
 */
import * as z from "zod";
import { keyToLookUp } from "../../../engine/facts/facts-policy.ts";
import { categoryOf } from "../../transfer/formats/helmdeck/entries.ts";

const chunkSchema = z.object({
  docid: z.string(),
  snippet: z.string(),
  collection: z.string().default(""),
  file: z.string().default(""),
});

export const chunksSchema = z.object({ results: z.array(chunkSchema) });

export type Chunk = z.infer<typeof chunkSchema>;

export interface HelmdeckFact {
  readonly docid: string;
  readonly key: string;
  readonly value: string;
  /** helmdeck's own category. */
  readonly itsCategory: string;
  readonly category: string;
  readonly tags: readonly string[];
  /** The text that helmdeck filters by, in lower case. */
  readonly text: string;
}

const COLLECTION = "helmdeck-";
const FACTS = "facts/";
/** Caches and plans look like facts there. */
const NO_FACTS: ReadonlySet<string> = new Set(["pack_history", "pipeline_history", "plan_history", "cache"]);

/** Undefined for a run, whose chunk does not contain it. */
export function keyOfChunk({ file }: Chunk): string | undefined {
  return file.startsWith(FACTS) ? file.slice(FACTS.length) : undefined;
}

/** Undefined for anything but a fact: a run, a plan, a cached answer. `odd`: a fact that is invalid here. */
export function factOf({ docid, snippet, collection, file }: Chunk): HelmdeckFact | "odd" | undefined {
  if (!file.startsWith(FACTS) || !collection.startsWith(COLLECTION)) return undefined;
  const key = file.slice(FACTS.length);
  const itsCategory = collection.slice(COLLECTION.length);
  if (NO_FACTS.has(itsCategory)) return undefined;
  const [head, tail] = [`## ${key}\n\n`, `\n\n(category: ${itsCategory})`];
  const isWhole =
    snippet.startsWith(head) && snippet.endsWith(tail) && snippet.length > head.length + tail.length;
  if (docid !== `${itsCategory}/${key}` || !isWhole || keyToLookUp(key) !== key) return "odd";
  const value = snippet.slice(head.length, -tail.length);
  return { docid, key, value, itsCategory, text: snippet.toLowerCase(), ...placeOf(itsCategory) };
}

/** The same as when importing helmdeck's database. */
function placeOf(itsCategory: string): Pick<HelmdeckFact, "category" | "tags"> {
  const { category, tag } = categoryOf(itsCategory);
  return { category, tags: tag === undefined ? [] : [tag] };
}
