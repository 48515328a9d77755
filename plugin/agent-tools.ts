/** The tools with which an agent stores a fact, forgets by scope, reads former values and pins. */
import type { FactInput, ForgetInput, Forgotten, Memory, PinInput, StoredFact } from "../app/memory.ts";
import { alsoInNotes, newerText, similarKeysText } from "../app/presenters/forget-texts.ts";
import type { NotesCount } from "../app/traces/find-traces.ts";
import { toWire } from "../app/wire/codec.ts";
import {
  HISTORY_DESCRIPTION,
  PIN_DESCRIPTION,
  STORE_DESCRIPTION,
  STORE_PARAMETERS,
} from "../app/wire/tool-texts.ts";
import { defined } from "../engine/defined.ts";
import { HelmdeckError, invalidField } from "../engine/errors.ts";
import { quotedKey } from "../engine/projections/frame.ts";
import { isKnownTime, rfc3339 } from "../engine/rfc3339.ts";
import type { AccessPolicy } from "./access-policy.ts";
import { lineOf, MY_MEMORY_PATH } from "./boundary.ts";
import { type Admitted, sentenceOfRefusal, writerOf } from "./identity.ts";
import type { MemoryAccess } from "./memory-access.ts";
import type { Logger, Tool, ToolContext, ToolResult } from "./openclaw-api.ts";
import { logLineOf, ToolFailure } from "./plugin-failure.ts";
import { FORGET_TOOL, HISTORY_TOOL, PIN_TOOL, STORE_TOOL } from "./tool-names.ts";
import { startDeadline } from "./within-deadline.ts";

/** A write waits up to 5 s for a locked database; this deadline covers the whole call. */
const WRITE_DEADLINE_MS = 10_000;
/** Far above every limit of the facts policy, which reports the exact one. Keeps a 10 MB argument from reaching the worker. */
const ARGUMENT_MAX_CHARS = 262_144;
const MOST_TEXTS = 1_000;

export interface ToolParts {
  readonly access: MemoryAccess;
  readonly policy: AccessPolicy;
  readonly log: Logger;
  /** The folder in which an agent keeps its notes; undefined if unknown. */
  readonly workspaceOf?: (agentId: string) => string | undefined;
  readonly deadlineMs?: number;
}

/** In the order of the plugin's manifest, which names them too. */
export const AGENT_TOOLS: Readonly<Record<string, (parts: ToolParts, context: ToolContext) => Tool>> = {
  [STORE_TOOL]: makeStoreTool,
  [FORGET_TOOL]: makeForgetTool,
  [HISTORY_TOOL]: makeHistoryTool,
  [PIN_TOOL]: makePinTool,
};

/** Made for each run, because the host's context decides whose memory it is, not an argument. */
export function makeStoreTool(parts: ToolParts, context: ToolContext): Tool {
  return {
    name: STORE_TOOL,
    label: "Remember a fact",
    description: STORE_DESCRIPTION,
    parameters: STORE_PARAMETERS,
    execute: (_callId, params) =>
      perform(parts, context, async (memory, verdict) => {
        return storeResult(await memory.storeFact(verdict.subject, factFrom(params), writerOf(verdict)));
      }),
  };
}

export function makeForgetTool(parts: ToolParts, context: ToolContext): Tool {
  return {
    name: FORGET_TOOL,
    label: "Forget",
    description: FORGET_DESCRIPTION,
    parameters: FORGET_PARAMETERS,
    execute: (_callId, params) =>
      perform(parts, context, async (memory, verdict) => {
        const { subject } = verdict;
        const asked = forgetFrom(params);
        const inNotes = await notesHolding(parts, { memory, verdict, ...asked });
        const forgotten = await memory.forget(subject, asked);
        const preview = asked.dryRun ? await previewOf(memory, subject, asked.scope) : [];
        return forgetResult(forgotten, preview, inNotes);
      }),
  };
}

export function makeHistoryTool(parts: ToolParts, context: ToolContext): Tool {
  return {
    name: HISTORY_TOOL,
    label: "Former values of a fact",
    description: HISTORY_DESCRIPTION,
    parameters: HISTORY_PARAMETERS,
    execute: (_callId, params) =>
      perform(parts, context, async (memory, { subject }) => {
        const history = await memory.factHistory(subject, {
          key: text("key", argumentsFor(HISTORY_PARAMETERS, params).key),
        });
        const { historyAnswer } = await import("./on-demand.ts"); // rarely needed
        const { story, details } = historyAnswer(history);
        return answer(story, details);
      }),
  };
}

/** A person is asked first: see approval-hook.ts. */
function makePinTool(parts: ToolParts, context: ToolContext): Tool {
  return {
    name: PIN_TOOL,
    label: "Pin a fact",
    description: PIN_DESCRIPTION,
    parameters: PIN_PARAMETERS,
    execute: (_callId, params) =>
      perform(parts, context, async (memory, verdict) => {
        const fact = await memory.pinFact(verdict.subject, pinFrom(params), writerOf(verdict));
        const until = fact.expiresAt === undefined ? "" : ` until ${dayOf(fact.expiresAt)}`;
        const story = fact.pinned
          ? `${quotedKey(fact.key)} is pinned${until}. Only the user can keep it longer: /pin with its key.`
          : `${quotedKey(fact.key)} is not pinned; it is kept${until}.`;
        return answer(story, toWire(fact));
      }),
  };
}

/** OpenClaw shows only the first 180 characters of a tool that is deferred behind its tool search. */
const FORGET_DESCRIPTION =
  "Delete from helmdeck memory for good; only what the user asked to forget. The scope is the path, id or citation of a" +
  " memory_search hit, or a fact's exact key (key:<exact key> if it could be read as something else). Wider: category:<name> or import:<id> for facts;" +
  " pack:<id>, pipeline:<id>, tool:<name>, packs, pipelines or tools for records of runs; all; everything. Use dry_run first to see what" +
  " a scope covers. For a scope wider than one entry, OpenClaw asks the user first; if nobody can be" +
  " asked, tell them to run: openclaw helmdeck forget <scope>";

const FORGET_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["scope"],
  properties: {
    scope: { type: "string", minLength: 1, description: "What to forget; see the tool's description." },
    dry_run: { type: "boolean", description: "Only say how much would be forgotten." },
    up_to: {
      type: "integer",
      minimum: 0,
      description: "The revision of a dry run: forget what that counted, and nothing newer.",
    },
  },
} as const;

const HISTORY_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["key"],
  properties: {
    key: {
      type: "string",
      minLength: 1,
      description: "The fact's exact key, or the path, id or citation of a memory_search hit.",
    },
  },
} as const;

const PIN_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["key"],
  properties: {
    key: HISTORY_PARAMETERS.properties.key,
    pinned: { type: "boolean", description: "false: unpin it." },
    if_revision: { type: "integer", description: "Only while the fact has this revision." },
  },
} as const;

/** Runs one tool call for the caller that the host reports. */
async function perform(
  parts: ToolParts,
  context: ToolContext,
  work: (memory: Memory, verdict: Admitted) => Promise<ToolResult>,
): Promise<ToolResult> {
  try {
    const deadline = startDeadline(parts.deadlineMs ?? WRITE_DEADLINE_MS);
    const verdict = await parts.policy.verdict({
      agentId: context.agentId,
      agentSessionKey: context.sessionKey,
      sandboxed: context.sandboxed,
    });
    if (!verdict.ok) throw new HelmdeckError("identity_refused", `${sentenceOfRefusal(verdict.reason)}.`);
    return await deadline(parts.access.open().then((memory) => work(memory, verdict)));
  } catch (error) {
    const failure = new ToolFailure(error);
    if (failure.code !== "invalid_input" && failure.code !== "identity_refused") {
      parts.log.warn(`helmdeck memory: ${logLineOf(error)}`);
    }
    throw failure;
  }
}

/** The host validates arguments against the schema on some paths only. The facts policy is checked when a fact is stored. */
function factFrom(params: unknown): FactInput {
  const given = argumentsFor(STORE_PARAMETERS, params);
  const { category, ttl_seconds: ttlSeconds } = given;
  if (ttlSeconds !== undefined && ttlSeconds !== null && typeof ttlSeconds !== "number") {
    throw invalidField("ttl_seconds", "must be a whole number of seconds; leave it out for 90 days");
  }
  const tags = textsFrom("tags", given.tags);
  const supersedes = textsFrom("supersedes", given.supersedes);
  return {
    key: text("key", given.key),
    value: text("value", given.value),
    ...(isGiven(category) ? { category: text("category", category) } : {}),
    ...defined({ tags, supersedes }),
    ...(isGiven(ttlSeconds) ? { ttlSeconds } : {}),
  };
}

function forgetFrom(params: unknown): ForgetInput & { readonly dryRun: boolean } {
  const given = argumentsFor(FORGET_PARAMETERS, params);
  const dryRun = given.dry_run ?? false;
  // A value that is not a boolean could have meant true, and a deletion cannot be undone.
  if (typeof dryRun !== "boolean") throw invalidField("dry_run", "must be true or false");
  const upTo = given.up_to ?? undefined;
  if (upTo !== undefined && typeof upTo !== "number")
    throw invalidField("up_to", "must be a whole number, the revision of a dry run");
  return { scope: text("scope", given.scope), dryRun, ...defined({ upTo }) };
}

function pinFrom(params: unknown): PinInput {
  const given = argumentsFor(PIN_PARAMETERS, params);
  const pinned = given.pinned ?? true;
  if (typeof pinned !== "boolean") throw invalidField("pinned", "must be true or false");
  const ifRevision = given.if_revision ?? undefined;
  if (ifRevision !== undefined && typeof ifRevision !== "number")
    throw invalidField("if_revision", "must be a whole number");
  return { key: text("key", given.key), pinned, ...defined({ ifRevision }) };
}

/** The arguments that were given. Refuses any argument that the tool does not take. */
function argumentsFor(
  { properties }: { readonly properties: Readonly<Record<string, unknown>> },
  params: unknown,
): Readonly<Record<string, unknown>> {
  const given = fieldsOf(params);
  const foreign = Object.keys(given).find((name) => !Object.hasOwn(properties, name));
  if (foreign === undefined) return given;
  const known = Object.keys(properties).join(", ");
  throw invalidField(lineOf(foreign) ?? "an argument", `is not known; this tool takes ${known}`);
}

function textsFrom(field: string, texts: unknown): readonly string[] | undefined {
  if (!isGiven(texts)) return undefined;
  if (!Array.isArray(texts)) throw invalidField(field, "must be a list of texts");
  if (texts.length > MOST_TEXTS) throw invalidField(field, "are too many; keep those that matter");
  return texts.map((one: unknown) => text(field, one));
}

function text(field: string, value: unknown): string {
  if (typeof value !== "string")
    throw invalidField(field, isGiven(value) ? "must be a string" : "is missing");
  if (value.length > ARGUMENT_MAX_CHARS)
    throw invalidField(field, "is too long; a value may have up to 65,536 bytes, other fields less");
  return value;
}

function isGiven<T>(value: T | undefined | null): value is T {
  return value !== undefined && value !== null;
}

function storeResult(stored: StoredFact): ToolResult {
  const { replaced } = stored;
  const until = dayOf(stored.expiresAt);
  const name = `${quotedKey(stored.key)} in ${stored.category}`;
  const story = replaced?.refreshed
    ? `Already remembered: ${name} held the same value; it now lasts until ${until}.`
    : `Remembered ${name} until ${until}.`;
  const change =
    replaced && !replaced.refreshed
      ? ` It replaced what was stored there${isKnownTime(replaced.updatedAt) ? ` on ${dayOf(replaced.updatedAt)}` : ""}.`
      : "";
  const told = `${story}${change} It can be read at ${stored.path}.${similarFactsText(stored)}`;
  return answer(told, toWire(stored));
}

async function previewOf(memory: Memory, subject: string, scope: string): Promise<readonly string[]> {
  const { forgetPreview } = await import("./on-demand.ts");
  return forgetPreview(memory, subject, scope);
}

/**
 * How many of the agent's own notes hold what it forgets; undefined where it may not know: in a sandbox, and in a group to which memory
 * was opened but not the notes.
 */
async function notesHolding(
  { workspaceOf }: ToolParts,
  { memory, verdict, scope }: { readonly memory: Memory; readonly verdict: Admitted; readonly scope: string },
): Promise<NotesCount | undefined> {
  const { subject, agentId, opened } = verdict;
  const folder = workspaceOf?.(agentId);
  if (folder === undefined || opened !== undefined) return undefined;
  const { notesHolding } = await import("./on-demand.ts");
  return notesHolding({ memory, subject, scope, workspaces: [folder] });
}

function forgetResult(forgotten: Forgotten, preview: readonly string[], inNotes?: NotesCount): ToolResult {
  const { deleted, former = 0 } = forgotten;
  const isDone = deleted + former > 0;
  const newer = newerText(forgotten);
  const also = isDone && inNotes !== undefined ? alsoInNotes(inNotes) : undefined;
  const story = isDone ? forgetStory(forgotten, preview) : missStory(forgotten);
  const parts = [story, newer, also].filter((part) => part !== undefined);
  return answer(parts.join(" "), { ...toWire(forgotten), ...(also && { also_in_notes: inNotes?.count }) });
}

function forgetStory(
  { scope, deleted, former = 0, dryRun, erased, revision }: Forgotten,
  preview: readonly string[],
): string {
  const entries = deleted === 1 ? "1 entry" : `${deleted} entries`;
  const count = former === 0 ? entries : `${entries} and ${former} former values of other facts`;
  const shown = lineOf(scope) ?? "";
  if (dryRun)
    return [
      `${count} would be forgotten for ${shown}. Nothing was changed.${revision === undefined ? "" : ` To forget exactly these, give up_to ${revision}.`}`,
      ...quoted(preview),
    ].join("\n");
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
  return `Nothing matched ${lineOf(forgotten.scope) ?? ""}, so nothing ${outcome} forgotten. ${hint}`;
}

function answer(story: string, details: Readonly<Record<string, unknown>>): ToolResult {
  return { content: [{ type: "text", text: story }], details };
}

function dayOf(unixMs: number): string {
  return rfc3339(unixMs).slice(0, "2026-01-01".length);
}

function fieldsOf(params: unknown): Readonly<Record<string, unknown>> {
  return typeof params === "object" && params !== null ? { ...params } : {};
}

/**
 * Tells a model which facts the stored one retired, repeats or resembles.
 *
 * One sentence for each thing that may need correction; the model decides.
 */
function similarFactsText({ superseded = [], sameAs = [], similar = [] }: StoredFact): string {
  const retired =
    superseded.length === 0 ? "" : ` It retired ${superseded.map((key) => quotedKey(key)).join(", ")}.`;
  const same =
    sameAs.length === 0
      ? ""
      : ` The same value is stored under ${sameAs.map((key) => quotedKey(key)).join(", ")}.`;
  if (similar.length === 0) return retired + same;
  const found = similar.map(({ key, value, updatedAt, contradicts }) => {
    const stored = isKnownTime(updatedAt) ? `stored ${rfc3339(updatedAt)}` : "stored before";
    return `\n- ${quotedKey(key)}, ${stored}${contradicts ? ", says otherwise" : ""}: ${quotedKey(value)}`;
  });
  const advice =
    " Similar facts exist; if this one corrects or replaces one of them, store it again with supersedes:";
  return `${retired}${same}${advice}${found.join("")}`;
}
