/**
 * Decides whether a turn of an agent is one in which memory may speak unasked: a person's message in a session of their own.
 *
 * Strangers write in groups and through hooks, and other agents and schedules begin turns that look like a person's. Facts of the
 * agent's owner must not enter such a turn, and nothing from it may be stored. So the host must vouch for the turn: its trigger,
 * where its words come from, which session, and which tools it may use. Everything unknown is refused, and so is a host that
 * does not tell.
 */
import { isIncognitoSessionKey } from "openclaw/plugin-sdk/routing";
import type { AccessPolicy } from "./access-policy.ts";
import type { Admitted } from "./identity.ts";
import { callerIn, fieldOf } from "./unchecked.ts";

/** The first OpenClaw that tells prompt hooks where a turn's words come from. */
export const SPEAKS_FROM = "2026.9.6";
/** Sessions in which nobody writes directly. */
const NOBODYS = new Set(["subagent", "acp", "cron", "hook", "group", "boot"]);
const RECALL_TOOL = "memory_search";
/** Claude models that bind their thinking to every byte before it. What is added to one message is gone in the next. */
const BINDS_EARLIER_TURNS = /opus-5[.-]5|fable-5[.-]1|mythos/i;
/** Backends that keep a history of their own, in which additions would pile up. */
const KEEPS_HISTORY = /-cli$/i;

/** Whether this version of OpenClaw tells enough. */
export function canSpeak(version: string): boolean {
  const numbers = (text: string) => text.split(/[.-]/).slice(0, 3).map(Number);
  const [ours, least] = [numbers(version), numbers(SPEAKS_FROM)];
  for (const [place, number] of least.entries()) {
    const own = ours[place] ?? Number.NaN;
    if (own !== number) return own > number;
  }
  return true;
}

/** The agent whose person wrote the message that begins this turn; undefined for any other turn. Rejects once the turn is over. */
export async function personOf(context: unknown, policy: AccessPolicy): Promise<Admitted | undefined> {
  if (!isBegunByPerson(context) || !mayRecall(context)) return undefined;
  const owner = await ownerOf(context, policy);
  assertGoesOn(context);
  return owner;
}

/** Throws if the host no longer waits for this hook, or does not say. */
export function assertGoesOn(context: unknown): void {
  for (const name of ["toolAuthority", "hookInvocation"]) {
    const capability = fieldOf(context, name);
    const assert = fieldOf(capability, "assertActive");
    if (typeof assert !== "function") throw new TypeError("OpenClaw does not say whether this turn goes on.");
    assert.call(capability);
  }
}

/** The agent that owns the session; undefined for a session in which others can write. */
export async function ownerOf(context: unknown, policy: AccessPolicy): Promise<Admitted | undefined> {
  const verdict = await policy.verdictWithoutSandboxFlag(callerIn(context));
  if (!verdict.ok || verdict.opened !== undefined || verdict.unasked === true) return undefined;
  return NOBODYS.has(verdict.sessionKind ?? "") ? undefined : verdict;
}

/** Whether an addition to one message changes nothing that the model has of earlier ones. */
export function takesAdditions(event: unknown, context: unknown): boolean {
  const [provider, model] = [fieldOf(context, "modelProviderId"), fieldOf(context, "modelId")];
  if (typeof model === "string" && BINDS_EARLIER_TURNS.test(model)) return false;
  if (typeof provider === "string" && KEEPS_HISTORY.test(provider)) return false;
  // Given by programs that keep the conversation themselves.
  return fieldOf(event, "currentUserMessage") === undefined;
}

/** An incognito session leaves nothing behind. */
export function isIncognito(context: unknown): boolean {
  const key = fieldOf(context, "sessionKey");
  return typeof key !== "string" || isIncognitoSessionKey(key);
}

function isBegunByPerson(context: unknown): boolean {
  if (fieldOf(context, "trigger") !== "user" || fieldOf(context, "jobId") !== undefined) return false;
  const provenance = fieldOf(context, "inputProvenance");
  return provenance === undefined || fieldOf(provenance, "kind") === "external_user";
}

/** Asked of the host's final word on this turn's tools. */
function mayRecall(context: unknown): boolean {
  const authority = fieldOf(context, "toolAuthority");
  const allows = fieldOf(authority, "allows");
  return typeof allows === "function" && allows.call(authority, RECALL_TOOL) === true;
}
