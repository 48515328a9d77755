/**
 * The agent_end hook: stores what a person plainly asked to remember, if the agent stored nothing itself.
 *
 * Whatever reaches memory here was not checked by a model or a person. So it comes only from the message that the prompt hook
 * admitted (plugin/recall-hook.ts): never from what an assistant, a tool or an earlier message said. The host reports a
 * run's end with the whole conversation, and several times if it tries again; a run is dealt with once.
 */

import type { Memory } from "../app/memory.ts";
import { keyForText } from "../app/presenters/words.ts";
import { isHelmdeckError } from "../engine/errors.ts";
import { type Admitted, byPerson } from "./identity.ts";
import { isIncognito, ownerOf } from "./persons-turn.ts";
import { logLineOf } from "./plugin-failure.ts";
import type { Asked, Receipts, UnaskedParts } from "./receipts.ts";
import { fieldOf, isRecord } from "./unchecked.ts";
import { withinDeadline } from "./within-deadline.ts";

/** A write waits up to 5 s for a locked database. */
const CAPTURE_DEADLINE_MS = 10_000;
/** The surface in the writer of a kept request. */
export const REQUEST_SURFACE = "openclaw-request";
/** Tools that store, ours and others', under any prefix and behind OpenClaw's tool search. */
const STORES = /memory_?(?:store|save|add|write|update|forget)|remember/i;
/** Files in which OpenClaw's agents keep notes. */
const NOTES = /\b(?:MEMORY|USER|SOUL|IDENTITY|AGENTS|TOOLS)\.md\b|\bmemory[\\/]/i;
const READS = new Set(["read", "memory_search", "memory_get", "grep", "find", "ls", "glob"]);

/** Never rejects. */
export async function captureAtEnd(event: unknown, context: unknown, parts: UnaskedParts): Promise<void> {
  const { receipts, policy, access, log } = parts;
  try {
    const run = fieldOf(context, "runId") ?? fieldOf(event, "runId");
    if (typeof run !== "string" || fieldOf(event, "success") !== true) return;
    const asked = receipts.asked.get(run);
    if (asked?.isSeen !== true || isIncognito(context)) return;
    receipts.asked.delete(run);
    receipts.done.set(run, true);
    const owner = await ownerOf(context, policy);
    const isSame = owner?.subject === asked.subject && fieldOf(context, "sessionKey") === asked.sessionKey;
    if (!isSame || storedItself(fieldOf(event, "messages"), asked.message)) return;
    const keeping = access.open().then((memory) => keep(memory, owner, asked.fact));
    const kept = await withinDeadline(CAPTURE_DEADLINE_MS, keeping);
    if (kept !== undefined) noteKept(receipts, { run, ...asked }, kept);
  } catch (error) {
    receipts.counts.failed += 1;
    log.warn(`helmdeck memory did not keep a request: ${logLineOf(error)}`);
  }
}

const SECRET = { refused: "a request was not kept, because it looks like a credential" };
type Kept = { readonly key: string } | typeof SECRET;
type AskedIn = Asked & { readonly run: string };

function noteKept({ counts, untold, turns }: Receipts, { run, sessionKey }: AskedIn, kept: Kept): void {
  const receipt = turns.get(run);
  if (receipt !== undefined)
    turns.set(run, { ...receipt, ...("key" in kept ? { kept: kept.key } : { outcome: kept.refused }) });
  if (!("key" in kept)) return;
  counts.kept += 1;
  untold.set(sessionKey, kept.key);
}

/** Stores a new fact, and nothing in place of another. Undefined if it is remembered already. */
async function keep(memory: Memory, owner: Admitted, fact: string): Promise<Kept | undefined> {
  const { subject } = owner;
  let isThere = false;
  const key = await keyForText(fact, async (candidate) => {
    const there = await factAt(memory, subject, candidate);
    isThere = there !== undefined && wordsOf(there.value) === wordsOf(fact);
    return isThere ? { value: fact } : there;
  });
  if (isThere) return undefined;
  const writer = byPerson(owner, REQUEST_SURFACE);
  try {
    await memory.storeFact(subject, { key, value: fact, ifRevision: 0 }, writer);
    return { key };
  } catch (error) {
    if (isHelmdeckError(error, "secret_refused")) return SECRET;
    throw error;
  }
}

/** Without the capital letter and the point, which version 0.3 did not add. */
function wordsOf(sentence: string): string {
  return sentence.toLowerCase().replace(/\.$/u, "");
}

/** A fact that cannot be decrypted still counts as existing. */
export async function factAt(memory: Memory, subject: string, key: string) {
  try {
    return await memory.getFact(subject, { key });
  } catch (error) {
    if (isHelmdeckError(error, "entry_unreadable")) return { value: "" };
    throw error;
  }
}

/**
 * Whether the agent stored something or wrote a note after this message. True as well if the message is not among them, since
 * then nobody knows.
 */
export function storedItself(messages: unknown, message: string): boolean {
  const all = Array.isArray(messages) ? messages.filter(isRecord) : [];
  const at = all.findLastIndex((one) => one.role === "user" && textOf(one).includes(message));
  return at === -1 || all.slice(at + 1).some((one) => callsIn(one).some(isStoring));
}

/** The tool calls of an assistant's message. */
function callsIn({ role, content }: Readonly<Record<string, unknown>>): readonly unknown[] {
  if (role !== "assistant" || !Array.isArray(content)) return [];
  return content.filter((part) => /tool/i.test(String(fieldOf(part, "type"))));
}

function isStoring(call: unknown): boolean {
  const name = String(fieldOf(call, "name") ?? fieldOf(call, "toolName"));
  const given =
    JSON.stringify(fieldOf(call, "arguments") ?? fieldOf(call, "input") ?? fieldOf(call, "args")) ?? "";
  const called = fieldOf(fieldOf(call, "arguments"), "id");
  if (STORES.test(name) || (typeof called === "string" && STORES.test(called))) return true;
  return !READS.has(name.toLowerCase()) && !READS.has(String(called).toLowerCase()) && NOTES.test(given);
}

function textOf({ content }: Readonly<Record<string, unknown>>): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => String(fieldOf(part, "text") ?? "")).join("\n");
}
