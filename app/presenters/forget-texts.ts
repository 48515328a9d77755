/** Texts of forgetting: what a scope covers before it is deleted, what stays, and the imports that it can undo. */

import { isHelmdeckError } from "../../engine/errors.ts";
import { type ForgetScope, parseForgetScope } from "../../engine/facts/forget-scope.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { importTag } from "../../engine/facts/import-tag.ts";
import { quotedKey } from "../../engine/projections/frame.ts";
import { originOfCategory } from "../../engine/projections/paths.ts";
import type { FactsQuery, Forgotten, KnownImport, Memory } from "../memory.ts";
import type { NotesCount } from "../traces/find-traces.ts";
import { counted, firstWords } from "./words.ts";

const PREVIEWED_FACTS = 10;

/** The newest facts of a category or of all, or the named one. Empty for scopes that are self-explanatory. */
export async function forgetPreview(
  memory: Memory,
  caller: string,
  scope: string,
): Promise<readonly string[]> {
  const readings = parseForgetScope(scope);
  const [first] = readings;
  switch (first.kind) {
    case "all":
    case "everything":
      return newestFacts(memory, caller);
    case "category":
      return newestFacts(memory, caller, { category: first.name });
    case "import":
      return newestFacts(memory, caller, { tag: importTag(first.id) });
    case "key":
    case "document":
      return lineOfNamed(memory, caller, new Set(readings.map((one) => nameOf(one, scope))));
    default:
      return [];
  }
}

function nameOf(reading: ForgetScope, scope: string): string {
  return reading.kind === "key" ? reading.key : scope.trim();
}

/** Of the first name that a fact has. */
async function lineOfNamed(
  memory: Memory,
  caller: string,
  names: ReadonlySet<string>,
): Promise<readonly string[]> {
  for (const name of names) {
    try {
      const fact = await memory.getFact(caller, { key: name });
      if (fact !== undefined) return [lineOf(fact)];
    } catch (error) {
      if (isHelmdeckError(error, "entry_unreadable")) return [unreadableLine(name)];
      throw error;
    }
  }
  return [];
}

function unreadableLine(key: string): string {
  return `${harmlessLine(key)} (its value cannot be read)`;
}

async function newestFacts(
  memory: Memory,
  caller: string,
  filter: Pick<FactsQuery, "category" | "tag"> = {},
): Promise<readonly string[]> {
  const query = { limit: PREVIEWED_FACTS, ...filter };
  const { facts, unreadable, nextCursor } = await memory.listFacts(caller, query);
  return [
    ...facts.map(lineOf),
    ...unreadable.map(unreadableLine),
    ...(nextCursor === undefined ? [] : ["…"]),
  ];
}

async function countRuns(memory: Memory, caller: string): Promise<number> {
  const { categories } = await memory.myMemory(caller);
  const runs = categories.filter(({ name }) => originOfCategory(name) === "audit");
  return runs.reduce((sum, { count }) => sum + count, 0);
}

/** `deploy/konflux: We deploy through Konflux` */
export function lineOf({ key, value }: { readonly key: string; readonly value: string }): string {
  return `${harmlessLine(key)}: ${firstWords(value)}`;
}

/** Notes of a preview: what stays, and what comes back. */
export function forgetNotes({ scope, restored = 0 }: Forgotten): readonly string[] {
  return [...(restored > 0 ? [goesBack(restored, true)] : []), STAYS[parseForgetScope(scope)[0].kind]];
}

const OTHERS_STAY = "Everything else stays.";
const FACTS_STAY = "Facts stay.";
const STAYS: Readonly<Record<ForgetScope["kind"], string>> = {
  ...{ key: OTHERS_STAY, document: OTHERS_STAY, category: "Other facts stay, and so do records of runs." },
  import: "Facts that were stored or edited since the import are not included and stay.",
  ...{ packs: FACTS_STAY, pipelines: FACTS_STAY, tools: FACTS_STAY },
  ...{ pack: FACTS_STAY, pipeline: FACTS_STAY, tool: FACTS_STAY },
  all: "OpenClaw's own notes and conversations stay, and so do backups, exports, and what packs keep.",
  everything: "OpenClaw's own notes and conversations stay, and so do backups and exports.",
};

export function goesBack(restored: number, isAhead: boolean): string {
  const facts = restored === 1 ? "1 of these facts" : `${restored} of these facts`;
  const verb = isAhead ? (restored === 1 ? "goes" : "go") : "went";
  return `${facts} ${verb} back to what the import replaced or superseded.`;
}

/** `This would delete all 70 facts of main for good; it cannot be undone.`, with notes. `whose`: ` of main`. */
export async function wouldForget(
  memory: Memory,
  caller: string,
  forgotten: Forgotten,
  whose = "",
): Promise<string> {
  const runs = forgotten.scope.trim() === "all" ? await countRuns(memory, caller) : 0;
  const what = coveredText(forgotten, { runs });
  return [`This would delete ${what}${whose} for good; it cannot be undone.`, ...forgetNotes(forgotten)].join(
    " ",
  );
}

type Covered = Pick<Forgotten, "scope" | "deleted" | "former">;

/**
 * What a forget covers, as a person says it: `the fact deploy/konflux`, `3 facts of the category team`. `all`: nothing of the scope
 * stays (`all 3 facts …`), and of all so many are records of runs.
 */
export function coveredText(
  { scope, deleted, former = 0 }: Covered,
  all?: { readonly runs: number },
): string {
  const parts = [
    ...(deleted === 0 ? [] : [ownText(scope, deleted, all)]),
    ...(former === 0 ? [] : [`${counted(former, "former value")} of other facts`]),
  ];
  return parts.join(" and ");
}

function ownText(scope: string, deleted: number, all: { readonly runs: number } | undefined): string {
  if (scope === "") return counted(deleted, "fact"); // of a selection
  const readings = parseForgetScope(scope);
  const [meant] = readings;
  const every = (one: string, of = "", many = `${one}s`, count = deleted) => {
    if (all === undefined) return harmlessLine(`${counted(count, one, many)}${of}`);
    return harmlessLine(count === 1 ? `the only ${one}${of}` : `all ${count} ${many}${of}`);
  };
  switch (meant.kind) {
    case "key":
    case "document": {
      const isRecord = readings.some((one) => one.kind === "document" && one.origin === "audit");
      return `the ${isRecord ? "record" : "fact"} ${harmlessLine(nameOf(meant, scope))}`;
    }
    case "category":
      return every("fact", ` of the category ${meant.name}`);
    case "import":
      return every("entry", ` of the import ${meant.id}`, "entries");
    case "pack":
    case "pipeline":
    case "tool":
      return every("record", ` of the ${meant.kind} ${meant.id}`);
    case "packs":
    case "pipelines":
    case "tools":
      return every("record", ` of ${meant.kind}`);
    case "everything":
      return `everything: ${counted(deleted, "entry", "entries")}, with records of runs and what packs keep`;
    case "all": {
      if (all === undefined) return counted(deleted, "fact or record", "facts and records");
      const records = every("record", " of runs", "records", all.runs);
      if (all.runs >= deleted) return records;
      const facts = every("fact", "", "facts", deleted - all.runs);
      return all.runs === 0 ? facts : `${facts} and ${records}`;
    }
  }
}

/** `2 facts, 1 record of runs, and 1 in the history of facts that were changed since` */
export function importCounts({ facts, former, records = 0 }: KnownImport): string {
  const runs = records === 0 ? "" : `, ${counted(records, "record")} of runs`;
  const past = former === 0 ? "" : `, and ${former} in the history of facts that were changed since`;
  return `${counted(facts, "fact")}${runs}${past}`;
}

/** Similar keys, and how to name one; undefined when there are none. */
export function similarKeysText({ near = [] }: Pick<Forgotten, "near">): string | undefined {
  if (near.length === 0) return undefined;
  return `Similar: ${near.map((key) => quotedKey(`key:${key}`)).join(", ")}.`;
}

/** What stays because it was stored or changed after the preview; undefined when nothing does. */
export function newerText({ newer }: Pick<Forgotten, "newer">): string | undefined {
  if (newer === undefined) return undefined;
  const { count, keys } = newer;
  const named = keys.map((key) => quotedKey(key)).join(", ");
  const more = count > keys.length ? `, and ${count - keys.length} more` : "";
  const stay = count === 1 ? "1 entry stays: it was" : `${count} entries stay: they were`;
  return `${stay} stored or changed after the preview (${named}${more}).`;
}

/** After everything was forgotten; undefined otherwise. */
export function nameStaysText({ nameStays }: Pick<Forgotten, "nameStays">): string | undefined {
  if (nameStays === undefined) return undefined;
  return "The database still has the name of this memory, without a key or a value, until its next clean-up: some minutes, while a gateway or a server runs.";
}

/** After a forget that only counted notes; undefined when none holds it. `program`: whose command shows them. */
export function alsoInNotes(
  { count, isComplete }: NotesCount,
  program = "openclaw helmdeck",
): string | undefined {
  const how = `${program} traces (it asks for the words).`;
  if (count === 0)
    return isComplete ? undefined : `Whether OpenClaw's notes hold it, too, is not known. To look: ${how}`;
  const notes = `${isComplete ? "" : "at least "}${counted(count, "note")}`;
  return `It also stands in ${notes} of OpenClaw. To see where, and take it out: ${how}`;
}
