/** What the agent's tools do with memory, and what they tell the model. Loaded on demand. */
import type {
  FactInput,
  ForgetInput,
  Forgotten,
  FormerView,
  HistoryInput,
  Memory,
  PinInput,
  StoredFact,
} from "../app/memory.ts";
import {
  alsoInNotes,
  forgetPreview,
  nameStaysText,
  newerText,
  similarKeysText,
} from "../app/presenters/forget-texts.ts";
import { notesHolding } from "../app/traces/count-notes.ts";
import { type JsonSchema, requireArguments } from "../app/wire/arguments.ts";
import { fromWire, toWire } from "../app/wire/codec.ts";
import { historyReply } from "../app/wire/replies.ts";
import { ANSWER_LIMITS } from "../engine/answer-limits.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { frameOf, quotedKey, quotedText, writerText } from "../engine/projections/frame.ts";
import { dateOf, dayOrTime, isKnownTime } from "../engine/rfc3339.ts";
import { isPersons } from "../engine/store/writer.ts";
import { lineOf, MY_MEMORY_PATH } from "./boundary.ts";
import { type Admitted, writerOf } from "./identity.ts";
import type { ToolResult } from "./openclaw-api.ts";

/** One call, for the caller that the host reports. */
interface Called {
  readonly memory: Memory;
  readonly verdict: Admitted;
  readonly params: unknown;
  readonly schema: JsonSchema;
  /** The folder in which an agent keeps its notes; undefined if unknown. */
  readonly workspaceOf: ((agentId: string) => string | undefined) | undefined;
}

export const TOOL_CALLS = { store, forget, history, pin } as const;

async function store({ memory, verdict, schema, params }: Called): Promise<ToolResult> {
  const fact = inputFrom<FactInput>(schema, params);
  const stored = await memory.storeFact(verdict.subject, fact, writerOf(verdict));
  const until = dateOf(stored.expiresAt);
  const name = `${quotedKey(stored.key)} in ${stored.category}`;
  const story = stored.replaced?.refreshed
    ? `Already remembered: ${name} held the same value; it now lasts until ${until}.`
    : `Remembered ${name} until ${until}.`;
  const told = `${story}${replacedText(stored)} It can be read at ${stored.path}.${similarFactsText(stored)}`;
  return answer(told, toWire(stored));
}

async function forget(called: Called): Promise<ToolResult> {
  const { memory, verdict, schema, params } = called;
  const asked = { dryRun: false, ...inputFrom<ForgetInput>(schema, params) };
  const noted = await inNotes(called, asked.scope);
  const forgotten = await memory.forget(verdict.subject, asked);
  const isDone = forgotten.deleted + (forgotten.former ?? 0) > 0;
  const preview = isDone && asked.dryRun ? await forgetPreview(memory, verdict.subject, asked.scope) : [];
  const counted = isDone ? noted : undefined;
  const story = isDone ? forgetStory(forgotten) : missStory(forgotten);
  const parts = [story, nameStaysText(forgotten), newerText(forgotten), counted && alsoInNotes(counted)];
  // The quotation comes last: what followed it could be taken for stored text, and stored text for ours.
  const told = [parts.filter((part) => part !== undefined).join(" "), ...quoted(preview)].join("\n");
  const also = counted?.isComplete && { also_in_notes: counted.count };
  return answer(told, { ...toWire(forgotten), ...also });
}

async function history({ memory, verdict, schema, params }: Called): Promise<ToolResult> {
  const found = await memory.factHistory(verdict.subject, inputFrom<HistoryInput>(schema, params));
  if (found === undefined)
    return answer("No such fact: it is not stored, and no fact superseded it. Keys are exact.", {
      former: [],
    });
  const key = quotedKey(found.key);
  const story =
    found.former.length === 0
      ? `${key} has no former values.`
      : `Former values of ${key}, newest first; none of them is current:`;
  return answer([story, ...found.former.map(formerText)].join("\n\n"), historyReply(found));
}

async function pin({ memory, verdict, schema, params }: Called): Promise<ToolResult> {
  const fact = await memory.pinFact(verdict.subject, inputFrom<PinInput>(schema, params), writerOf(verdict));
  const until = fact.expiresAt === undefined ? "" : ` until ${dateOf(fact.expiresAt)}`;
  const story = fact.pinned
    ? `${quotedKey(fact.key)} is pinned${until}. Only the user can keep it longer: /pin with its key.`
    : `${quotedKey(fact.key)} is not pinned; it is kept${until}.`;
  return answer(story, toWire(fact));
}

/** The host validates arguments on some paths only. The facts policy is checked when a fact is stored. */
function inputFrom<Input>(schema: JsonSchema, params: unknown): Input {
  return fromWire(requireArguments(schema, params)) as Input; // the schema has the fields of the use case's input, as a test compares
}

/** A person learns at once that an agent's value stands in place of theirs. */
function replacedText({ key, replaced }: StoredFact): string {
  if (replaced === undefined || replaced.refreshed) return "";
  const { updatedAt, writer } = replaced;
  const on = isKnownTime(updatedAt) ? ` on ${dateOf(updatedAt)}` : "";
  if (writer === undefined || !isPersons(replaced)) return ` It replaced what was stored there${on}.`;
  return ` It replaced what ${writerText(writer)} stored there${on}. Tell the user, and that /undo ${harmlessLine(key)} brings it back.`;
}

/**
 * How many of the agent's own notes hold what it forgets; undefined where it may not know: in a sandbox, and in a group to which
 * memory was opened but not the notes.
 */
async function inNotes({ memory, verdict, workspaceOf }: Called, scope: string) {
  const { subject, agentId, opened } = verdict;
  const folder = workspaceOf?.(agentId);
  if (folder === undefined || opened !== undefined) return undefined;
  return notesHolding({ memory, subject, scope, workspaces: [folder] });
}

function forgetStory({ scope, deleted, former = 0, dryRun, erased, revision }: Forgotten): string {
  const entries = deleted === 1 ? "1 entry" : `${deleted} entries`;
  const count = former === 0 ? entries : `${entries} and ${former} former values of other facts`;
  const shown = quotedKey(lineOf(scope) ?? "");
  if (dryRun)
    return `${count} would be forgotten for ${shown}. Nothing was changed.${revision === undefined ? "" : ` To forget exactly these, give up_to ${revision}.`}`;
  const pending =
    erased === "pending" ? " The encrypted bytes are erased from the database file shortly." : "";
  return `Forgot ${count} for ${shown}.${pending}`;
}

function quoted(preview: readonly string[]): readonly string[] {
  if (preview.length === 0) return [];
  return [
    "Newest first, each with its key and first words as stored:",
    ...preview.map((line) => `> ${line}`),
  ];
}

function missStory(forgotten: Forgotten): string {
  const outcome = forgotten.dryRun ? "would be" : "was";
  if (forgotten.newer !== undefined) return `Nothing ${outcome} forgotten.`;
  const near = similarKeysText(forgotten);
  const hint = near ?? `${MY_MEMORY_PATH} lists what is stored.`;
  return `Nothing matched ${quotedKey(lineOf(forgotten.scope) ?? "")}, so nothing ${outcome} forgotten. ${hint}`;
}

function answer(story: string, details: Readonly<Record<string, unknown>>): ToolResult {
  return { content: [{ type: "text", text: story }], details };
}

/** Tells a model which facts the stored one retired, repeats or resembles; the model decides what needs correction. */
function similarFactsText({ superseded = [], sameAs = [], similar = [] }: StoredFact): string {
  const listed = (lead: string, keys: readonly string[]) =>
    keys.length === 0 ? "" : ` ${lead} ${keys.map((key) => quotedKey(key)).join(", ")}.`;
  const known = listed("It retired", superseded) + listed("The same value is stored under", sameAs);
  if (similar.length === 0) return known;
  const found = similar.map(({ key, value, updatedAt, writer, contradicts }) => {
    const by = writer && isPersons({ writer }) ? ` by ${writerText(writer)}` : "";
    const stored = isKnownTime(updatedAt) ? `stored ${dayOrTime(updatedAt)}` : "stored before";
    return `\n- ${quotedKey(key)}, ${stored}${by}${contradicts ? ", says otherwise" : ""}: ${quotedKey(value)}`;
  });
  const onlyIf = similar.some(isPersons) ? ", a person's only if the user asks for it" : "";
  const advice = ` Similar facts exist; if this one corrects or replaces one of them, store it again with supersedes${onlyIf}:`;
  return `${known}${advice}${found.join("")}`;
}

function formerText(former: FormerView): string {
  const frame = frameOf({ kind: "fact", ...former }, { time: dayOrTime });
  return `${frame}:\n${quotedText(former.value, ANSWER_LIMITS.snippetCharacters)}`;
}
