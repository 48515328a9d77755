/**
 * The before_prompt_build hook: adds the facts that are sure for a person's message after its words, and notes a request to
 * remember for the end of the turn.
 *
 * The turn waits for this hook, so it has a short deadline of its own, and whatever goes wrong adds nothing. The addition stands
 * after the person's words in this one request to the model: OpenClaw keeps it out of the transcript, and nothing before it changes.
 */
import { isHelmdeckError } from "../engine/errors.ts";
import type { AccessPolicy } from "./access-policy.ts";
import type { PluginConfig } from "./config.ts";
import { currentMessage } from "./current-message.ts";
import type { Admitted } from "./identity.ts";
import type { MemoryAccess } from "./memory-access.ts";
import type { Logger } from "./openclaw-api.ts";
import { assertGoesOn, isIncognito, personOf, takesAdditions } from "./persons-turn.ts";
import { logLineOf } from "./plugin-failure.ts";
import { type Asked, noteTurn, type Receipt, type Receipts } from "./receipts.ts";
import { type Addition, additionFrom, keptLine, MOST_FACTS, questionOf } from "./unasked.ts";
import { fieldOf } from "./unchecked.ts";
import { withinDeadline } from "./within-deadline.ts";

/** The turn waits this long at most. */
export const RECALL_DEADLINE_MS = 400;

export interface RecallHookParts {
  readonly access: MemoryAccess;
  readonly policy: AccessPolicy;
  readonly log: Logger;
  readonly rules: Pick<PluginConfig, "autoRecall" | "captureRequests">;
  readonly receipts: Receipts;
  readonly deadlineMs?: number;
  readonly now?: () => number;
}

type PromptAddition = { readonly appendContext: string } | undefined;

/** The hook's handler. Never rejects, and never takes longer than its deadline. */
export function makeRecallHook(
  parts: RecallHookParts,
): (event: unknown, context: unknown) => Promise<PromptAddition> {
  const { receipts, log, deadlineMs = RECALL_DEADLINE_MS } = parts;
  let lastTrouble: string | undefined;
  return async (event, context) => {
    try {
      const turn = await withinDeadline(deadlineMs, lookAt(event, context, parts));
      return turn === undefined ? undefined : settle(turn, parts);
    } catch (error) {
      const trouble = logLineOf(error);
      receipts.counts[isHelmdeckError(error, "deadline_exceeded") ? "late" : "failed"] += 1;
      if (trouble !== lastTrouble) log.warn(`helmdeck memory added nothing to a message: ${trouble}`);
      lastTrouble = trouble;
      return undefined;
    }
  };
}

interface Turn {
  readonly run: string;
  readonly sessionKey: string;
  readonly receipt: Receipt;
  readonly text: string | undefined;
  readonly asked: Asked | undefined;
}

/** Changes nothing, since it goes on after the deadline. */
async function lookAt(event: unknown, context: unknown, parts: RecallHookParts): Promise<Turn | undefined> {
  const message = currentMessage(event);
  const run = fieldOf(context, "runId");
  if (message === undefined || typeof run !== "string") return undefined;
  const person = await personOf(context, parts.policy);
  if (person === undefined) return undefined;
  const sessionKey = String(fieldOf(context, "sessionKey"));
  const addition = await additionTo(message, person, { event, context }, parts);
  const { subject } = person;
  const fact = keepsRequests(context, parts) ? await requestOf(message) : undefined;
  return {
    ...{ run, sessionKey, text: addition.text },
    receipt: { at: (parts.now ?? Date.now)(), subject, ...addition },
    asked: fact === undefined ? undefined : { fact, message, subject, sessionKey },
  };
}

function keepsRequests(context: unknown, { rules }: RecallHookParts): boolean {
  return rules.captureRequests === "store" && !isIncognito(context);
}

/** Its tables are loaded only where requests are kept. */
async function requestOf(message: string): Promise<string | undefined> {
  return (await import("./on-demand.ts")).requestIn(message);
}

const NOTHING = { added: [], withheld: [] } as const;

async function additionTo(
  message: string,
  { subject }: Admitted,
  { event, context }: { readonly event: unknown; readonly context: unknown },
  { access, rules }: RecallHookParts,
): Promise<Addition & Pick<Receipt, "outcome">> {
  if (rules.autoRecall === "off") return { ...NOTHING, outcome: "autoRecall is off" };
  if (!takesAdditions(event, context))
    return { ...NOTHING, outcome: "this model keeps its own history of the conversation" };
  const question = questionOf(message);
  if (question === undefined) return { ...NOTHING, outcome: "too short to ask for anything" };
  const memory = await access.open();
  const asked = { query: question, limit: MOST_FACTS, recall: "quiet", explain: true } as const;
  const addition = additionFrom(await memory.search(subject, asked), question);
  assertGoesOn(context);
  return addition;
}

function settle(
  { run, sessionKey, receipt, text, asked }: Turn,
  { receipts }: RecallHookParts,
): PromptAddition {
  noteTurn(receipts, run, receipt);
  if (asked !== undefined && !receipts.done.has(run)) receipts.asked.set(run, asked);
  const kept = receipts.untold.get(sessionKey);
  receipts.untold.delete(sessionKey);
  const lines = [text, kept === undefined ? undefined : keptLine(kept)].filter((line) => line !== undefined);
  return lines.length === 0 ? undefined : { appendContext: lines.join("\n\n") };
}
