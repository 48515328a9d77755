/** Tells an agent a fact's former values. */

import type { FactHistory, FormerView } from "../app/memory.ts";
import { historyReply } from "../app/wire/replies.ts";
import { ANSWER_LIMITS } from "../engine/answer-limits.ts";
import { frameOf, quotedKey, quotedText } from "../engine/projections/frame.ts";
import { rfc3339 } from "../engine/rfc3339.ts";

interface HistoryAnswer {
  readonly story: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** `undefined` if no such fact is known. */
export function historyAnswer(history: FactHistory | undefined): HistoryAnswer {
  if (history === undefined) {
    const story = "No such fact: it is not stored, and no fact superseded it. Keys are exact.";
    return { story, details: { former: [] } };
  }
  const key = quotedKey(history.key);
  const story =
    history.former.length === 0
      ? `${key} has no former values.`
      : `Former values of ${key}, newest first; none of them is current:`;
  return { story: [story, ...history.former.map(formerText)].join("\n\n"), details: historyReply(history) };
}

function formerText(former: FormerView): string {
  const frame = frameOf({ kind: "fact", ...former }, { time: rfc3339 });
  return `${frame}:\n${quotedText(former.value, ANSWER_LIMITS.snippetCharacters)}`;
}
