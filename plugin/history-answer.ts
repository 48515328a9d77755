/** What an agent is told of what a fact held before. */
import {
  ANSWER_LIMITS,
  type FactHistory,
  type FormerView,
  frameOf,
  historyReply,
  quotedKey,
  quotedText,
  rfc3339,
} from "../app/index.ts";

interface HistoryAnswer {
  readonly story: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Undefined: nothing is known of such a fact. */
export function historyAnswer(history: FactHistory | undefined): HistoryAnswer {
  if (history === undefined) {
    const story =
      "Nothing is known of such a fact: it is not there, and no fact superseded it. Keys are exact.";
    return { story, details: { former: [] } };
  }
  const key = quotedKey(history.key);
  const story =
    history.former.length === 0
      ? `There are no former values of ${key} held before.`
      : `Before what ${key} holds now, newest first; none of this holds any longer:`;
  return { story: [story, ...history.former.map(formerText)].join("\n\n"), details: historyReply(history) };
}

function formerText(former: FormerView): string {
  const frame = frameOf({ kind: "fact", ...former }, { time: rfc3339 });
  return `${frame}:\n${quotedText(former.value, ANSWER_LIMITS.snippetCharacters)}`;
}
