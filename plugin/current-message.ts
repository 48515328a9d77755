/**
 * The words of the person whose message begins a turn, out of the prompt that OpenClaw prepares for the model.
 *
 * Around them OpenClaw puts what others wrote: what the message replies to, what was forwarded, what attachments say. Whoever sends a
 * person such a thing could have their own words stored, or have facts of the person's told. So all of OpenClaw's formats stand in one
 * table, which a test compares with the installed OpenClaw, and what cannot be told apart is nobody's words.
 */
import { withoutEnvelope } from "../engine/message-envelope.ts";
import { fieldOf } from "./unchecked.ts";

/** The end of the heading of a block about the message. OpenClaw removes this mark from what people write. */
const MARK = "⟦openclaw:ctx⟧";
/** A block with that heading is fenced, or ends at an empty line. */
const FENCE = ["```json", "```"] as const;
const FORWARDED = `Forwarded message context: ${MARK}`;

interface HostText {
  /** The beginning of a line; the whole line if it ends in a line break. */
  readonly begins: string;
  /** OpenClaw's own words and what a message is about, or words of another that the person passes on. */
  readonly whose: "host" | "another";
  readonly upTo: "end of line" | "end of block" | "end";
}

const from = (whose: HostText["whose"], upTo: HostText["upTo"], ...begins: readonly string[]) =>
  begins.map((one): HostText => ({ begins: one, whose, upTo }));

/** The first that fits counts. */
export const HOST_TEXTS: readonly HostText[] = [
  ...from("another", "end", FORWARDED, "[Forwarded "),
  ...from("another", "end", "Description:\n", "[Sticker", "<file ", "<<<EXTERNAL_UNTRUSTED_CONTENT"),
  ...from("another", "end", "SECURITY NOTICE: The following content is from an EXTERNAL, UNTRUSTED source"),
  ...from("another", "end", "[Chat messages since your last reply - for context]"),
  ...from("another", "end", "[Recent chat messages - for context]", "[Current message - respond to this]"),
  ...from("another", "end", "[Thread history - for context]", "[Thread starter - for context]"),
  ...from("another", "end", "[Queued messages while agent was busy]", "[Queue overflow]", "Queued #"),
  ...from("another", "end", "[Queued user message from a previous active turn;"),
  ...from("another", "end", "[Inter-session message]", "[OpenClaw room event]", "[OpenClaw heartbeat poll]"),
  ...from("another", "end", "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", "[Internal task completion event]"),
  ...from("another", "end", "A new session was started via /new or /reset"),
  ...from("host", "end of line", "[Image attachment ", "[Audio attachment ", "[Video attachment "),
  // What is said in a voice message is searched for. It is not kept, since anybody may be speaking.
  ...from("another", "end of line", "[Image", "[Audio", "[Video", "Transcript:\n"),
  ...from("host", "end", `Context: ${MARK}`, "[Reply chain - nearest first]"),
  ...from("host", "end of line", "User text:\n", "[media attached", "[media unavailable: "),
  ...from("host", "end of line", "[User sent media without caption]", "System: ", "Active goal: "),
  ...from("host", "end of line", "Delivery: Final assistant text", "Delivery: No visible reply"),
  ...from("host", "end of line", "Note: The previous agent run was interrupted."),
];

const BLOCK: HostText = { begins: "", whose: "host", upTo: "end of block" };
const BY_FIRST = Map.groupBy(HOST_TEXTS, ({ begins }) => begins.charAt(0));
/** What Telegram's messages reply to stands before them, in the same line or with the message's number between. */
const REPLY_TO = /^Current message:\n\[Replying to: "(?:[^"\\\n]|\\.)*"\](?:\n#\S*:)? ?/m;
/** OpenClaw's blocks are shorter. What follows is not read. */
const READ_CHARS = 100_000;
/** More than a question or a request has. */
const OWN_CHARS = 1_000;

export interface CurrentMessage {
  readonly words: string;
  /** Nothing of another is passed on in this message. What it replies to is not part of it. */
  readonly isOwn: boolean;
}

/** Undefined if the event has no text of a person that can be told apart. Accepts any value. */
export function currentMessage(event: unknown): CurrentMessage | undefined {
  const prompt = read(fieldOf(event, "prompt"));
  const given = fieldOf(event, "currentUserMessage");
  if (given === undefined) return prompt;
  const message = read(given);
  return message && { ...message, isOwn: message.isOwn && prompt?.isOwn === true };
}

function read(given: unknown): CurrentMessage | undefined {
  if (typeof given !== "string") return undefined;
  const lines = given.slice(0, READ_CHARS).toWellFormed().replace(REPLY_TO, "").split("\n");
  const own: string[] = [];
  let isOwn = given.length <= READ_CHARS;
  for (let at = 0, chars = 0; at < lines.length && chars < OWN_CHARS; at += 1) {
    const line = lines[at] ?? "";
    const text = hostText(line, chars === 0);
    isOwn &&= text?.whose !== "another";
    if (text === undefined) {
      own.push(line);
      chars += line.trim().length;
    } else if (text.upTo === "end") break;
    else if (text.upTo === "end of block") at = endOfBlock(lines, at + 1);
  }
  const words = withoutEnvelope(own.join("\n").trim()).trim();
  return words === "" || words.includes(MARK) ? undefined : { words, isOwn };
}

function hostText(line: string, isFirst: boolean): HostText | undefined {
  const text = line.trim();
  const known = textAt(text) ?? (isFirst ? textAt(withoutEnvelope(text)) : undefined);
  return known ?? (text.endsWith(MARK) ? BLOCK : undefined);
}

function textAt(line: string): HostText | undefined {
  return BY_FIRST.get(line.charAt(0))?.find(({ begins }) => `${line}\n`.startsWith(begins));
}

/** The number of the block's last line. */
function endOfBlock(lines: readonly string[], first: number): number {
  const [open, close] = FENCE;
  const end = lines[first]?.trim() === open ? close : "";
  let at = first;
  while (at < lines.length && lines[at]?.trim() !== end) at += 1;
  return at;
}

/** Whether the context that OpenClaw gives a model beside a message says that the message was forwarded. */
export function isForwarded(messages: unknown): boolean {
  const all = Array.isArray(messages) ? messages : [];
  const latest = all.slice(all.findLastIndex((one) => fieldOf(one, "role") === "assistant") + 1);
  return latest.some((one) => JSON.stringify(fieldOf(one, "content") ?? "").includes(FORWARDED));
}
