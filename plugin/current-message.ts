/**
 * The words of the person whose message begins a turn, out of the prompt that OpenClaw prepares for the model.
 *
 * OpenClaw adds blocks of its own around them (who writes where, what the message replies to), and marks each block's heading.
 * They hold other people's words, so they are cut out. What cannot be told apart is nobody's words.
 */
import { withoutEnvelope } from "../engine/message-envelope.ts";
import { fieldOf } from "./unchecked.ts";

/** The end of the heading of every block that OpenClaw adds. It removes this mark from what people write. */
const HOSTS_MARK = "⟦openclaw:ctx⟧";
const AROUND = `Context: ${HOSTS_MARK}`;
/** A heading, and either a fenced block or the lines up to an empty one. */
const BLOCK_AHEAD = new RegExp(
  `^\\s*[^\\n]*${HOSTS_MARK}[ \\t]*\\n(?:\`\`\`json\\n[\\s\\S]*?\\n\`\`\`[ \\t]*(?:\\n|$)|(?:[^\\n]*\\S[^\\n]*(?:\\n|$))*)`,
);

/** Undefined if the event has no text of a person that can be told apart. Accepts any value. */
export function currentMessage(event: unknown): string | undefined {
  const given = fieldOf(event, "currentUserMessage") ?? fieldOf(event, "prompt");
  if (typeof given !== "string") return undefined;
  const words = withoutBlocks(withoutEnvelope(given.toWellFormed()));
  return words === "" || words.includes(HOSTS_MARK) ? undefined : words;
}

function withoutBlocks(prompt: string): string {
  const [before = ""] = prompt.split(`\n${AROUND}`, 1);
  let rest = before;
  for (let shorter = cutBlock(rest); shorter.length < rest.length; shorter = cutBlock(rest)) rest = shorter;
  return withoutEnvelope(rest.trim()).trim();
}

function cutBlock(text: string): string {
  return text.replace(BLOCK_AHEAD, "");
}
