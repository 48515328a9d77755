/** What memory does with a turn of an agent before the model is asked. Loaded on demand. */
import { firstWords } from "../app/presenters/words.ts";
import { defined } from "../engine/defined.ts";
import { currentMessage } from "./current-message.ts";
import type { Admitted } from "./identity.ts";
import { assertGoesOn, isIncognito, personOf, takesAdditions } from "./persons-turn.ts";
import { noteTurn, type PromptAddition, type Receipt, type UnaskedParts } from "./receipts.ts";
import { requestIn } from "./requests.ts";
import { type Addition, additionFrom, keptLine, MOST_FACTS, questionOf } from "./unasked.ts";
import { fieldOf } from "./unchecked.ts";

/** Of a message, on the page of what was done unasked. */
const SHOWN_CHARACTERS = 160;

/**
 * Looks at a turn and changes nothing, since this goes on after the deadline. The returned function notes what was found, and
 * returns the addition. Undefined: memory has nothing to do with this turn.
 */
export async function lookAtTurn(
  event: unknown,
  context: unknown,
  parts: UnaskedParts,
): Promise<(() => PromptAddition) | undefined> {
  const message = currentMessage(event);
  const run = fieldOf(context, "runId");
  if (message === undefined || typeof run !== "string") return undefined;
  const person = await personOf(context, parts.policy);
  if (person === undefined) return undefined;
  const sessionKey = String(fieldOf(context, "sessionKey"));
  const { words, isOwn } = message;
  const addition = await additionTo(words, person, { event, context }, parts);
  const { subject } = person;
  const fact = isOwn && keepsRequests(context, parts) ? requestIn(words) : undefined;
  // Programs that keep the conversation themselves give the message apart, and the prompt with all context.
  const isSeen = fieldOf(event, "currentUserMessage") !== undefined;
  const shown = isIncognito(context) ? undefined : firstWords(words, SHOWN_CHARACTERS);
  const receipt = { at: (parts.now ?? Date.now)(), subject, ...addition, ...defined({ message: shown }) };
  return () => {
    const { receipts } = parts;
    noteTurn(receipts, run, receipt);
    if (fact !== undefined && !receipts.done.has(run))
      receipts.asked.set(run, { fact, message: words, subject, sessionKey, isSeen });
    const kept = receipts.untold.get(sessionKey);
    receipts.untold.delete(sessionKey);
    const lines = [addition.text, kept && keptLine(kept)].filter((line) => line !== undefined);
    return lines.length === 0 ? undefined : { appendContext: lines.join("\n\n") };
  };
}

function keepsRequests(context: unknown, { rules }: UnaskedParts): boolean {
  return rules.captureRequests === "store" && !isIncognito(context);
}

const NOTHING = { added: [], withheld: [] } as const;

async function additionTo(
  message: string,
  { subject }: Admitted,
  { event, context }: { readonly event: unknown; readonly context: unknown },
  { access, rules }: UnaskedParts,
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
