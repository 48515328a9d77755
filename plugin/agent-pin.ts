/**
 * Decides whether an agent's pin needs a person's approval, and words the question.
 *
 * Threat: a model that was misled by what it read pins a text, which then stands in every prompt. So a person sees the value and
 * agrees, and only that value is pinned. Unpinning needs nobody.
 */
import { shellWord } from "../app/presenters/words.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { quotedKey, quotedText } from "../engine/projections/frame.ts";
import { sentenceOfRefusal } from "./identity.ts";
import { PIN_TOOL } from "./tool-names.ts";
import { callerIn } from "./unchecked.ts";
import { askPerson, block, canAsk, type Decision, type DecisionParts, type ToolCall } from "./wide-forget.ts";

const MOST_SHOWN = 300;

/** Undefined: the call proceeds. */
export async function decidePin(
  { tool, params, context }: ToolCall,
  { access, policy }: DecisionParts,
): Promise<Decision | undefined> {
  if (params.pinned === false) return undefined;
  const key = String(params.key);
  const shown = harmlessLine(key).trim();
  if (!canAsk(context)) {
    return block(
      `Nothing was pinned: a pin needs a person's approval, and nobody can be asked in this session. A person can write /pin ${shown} in chat, or run: openclaw helmdeck pin ${shellWord(shown)}`,
    );
  }
  // An MCP server decides whose memory it changes; here only the approval is required.
  if (tool !== PIN_TOOL) return ask(shown, `Through ${harmlessLine(tool)}.`);
  const verdict = await policy.verdictWithoutSandboxFlag(callerIn(context));
  if (!verdict.ok) return block(`identity_refused: ${sentenceOfRefusal(verdict.reason)}.`);
  const memory = await access.open();
  const fact = await memory.getFact(verdict.subject, { key });
  if (fact === undefined) return block("not_found: There is nothing to pin: there is no fact with this key.");
  const { revision } = fact;
  return {
    ...ask(
      shown,
      `It would stand in every prompt of ${verdict.agentId}, for a year at most: ${quotedKey(fact.key)}\n${quotedText(fact.value, MOST_SHOWN)}`,
    ),
    ...(revision !== undefined && { params: { ...params, if_revision: revision } }),
  };
}

function ask(key: string, description: string): Decision {
  return askPerson(`Pin to every prompt: ${key}`, description);
}
