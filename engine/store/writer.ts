/** The writer of an entry, as vouched for by the host: never taken from an argument, and sealed with the value. */

import { defined } from "../defined.ts";
import { invalidField } from "../errors.ts";
import { jsonListOf } from "../json.ts";

export interface Writer {
  /** The surface: `openclaw`, `rest`, `cli`, `pack` (usually over MCP); see also {@link isPersons}. */
  readonly surface: string;
  /** The agent, token subject or caller. */
  readonly agent?: string;
  /** The kind of session, such as `direct`, `group`, `subagent` or `cron`. */
  readonly sessionKind?: string;
}

const LIMITS = { surface: 64, agent: 2_048, sessionKind: 64 } as const;
type Field = keyof typeof LIMITS;
const FIELDS = Object.keys(LIMITS) as readonly Field[];

/** Where a person writes: a command line, a page, a chat command, a message; and where a host's plugin says so over REST. */
const PERSONS: ReadonlySet<string> = new Set([
  "cli",
  "pages",
  "openclaw-chat",
  "openclaw-request",
  "rest-person",
]);

/** A person's own word. An agent, a program or an import may pass on what a page says. */
export function isPersons({ writer }: { readonly writer?: Writer | undefined }): boolean {
  return writer !== undefined && PERSONS.has(writer.surface);
}

/** Of two facts that do not agree, whether the first one's word weighs more: a person's, or else the newer one's. */
export function outweighs(one: Said, other: Said): boolean {
  const isByPerson = isPersons(one);
  return isByPerson === isPersons(other) ? one.updatedAt > other.updatedAt : isByPerson;
}

export interface Said {
  readonly writer?: Writer | undefined;
  readonly updatedAt: number;
}

/** `default`: the end that a fact gets whose writer names none. */
export type Ending = "default" | "chosen";

export interface FormerEnd {
  /** Unix milliseconds, like all times here. */
  readonly expiresAt: number;
  readonly ending: Ending;
  /** Of the change: the same for all facts that it changed. */
  readonly at: number;
  /** Present if the change was one of the category. */
  readonly category?: string;
}

const LENGTH_BYTES = 2;

/** Throws `invalid_input`, naming the field and its limit in bytes of UTF-8. */
export function checkWriter(writer: Writer): void {
  for (const field of FIELDS) {
    const text = writer[field];
    const least = field === "surface" ? 1 : 0;
    const bytes = Buffer.byteLength(text ?? "");
    if (text?.isWellFormed() !== false && bytes >= least && bytes <= LIMITS[field]) continue;
    throw invalidField(`writer.${field}`, `must be a string of ${least} to ${LIMITS[field]} bytes`);
  }
}

/**
 * The content to seal: two bytes of length, then JSON with the writer, the conversation and marks for its end (empty when there is
 * none of them), then the value. Until 0.3.0, the list had to name a writer or the first mark, of a default end that a store begins
 * again, and more fields were ignored.
 */
export function encodeContent({ value, writer, ...marks }: Content): Uint8Array {
  const { conversationId, ending, confirmedAt, formerEnd, ...others } = marks;
  others satisfies Record<string, never>; // every field is encoded
  const isMarked = conversationId !== undefined || ending !== undefined;
  const isUsual = ending === "default" && confirmedAt === undefined;
  const said = writer ?? (isMarked && !isUsual ? NOBODY : undefined);
  const about = [
    ...FIELDS.map((field) => said?.[field] ?? null),
    ...(isMarked
      ? [isUsual ? USUAL : null, conversationId ?? null, writer === undefined ? UNKNOWN : null]
      : []),
    ...endMarks(marks),
  ];
  const named = said === undefined && !isMarked ? "" : JSON.stringify(about);
  const writerBytes = Buffer.byteLength(named);
  const content = Buffer.allocUnsafe(LENGTH_BYTES + writerBytes + value.byteLength);
  content.writeUInt16BE(writerBytes);
  content.write(named, LENGTH_BYTES);
  content.set(value, LENGTH_BYTES + writerBytes);
  return content;
}

function endMarks({ ending, confirmedAt, formerEnd }: About): readonly (number | string | null)[] {
  if (ending === undefined) return [];
  const former = formerEnd && [formerEnd.at, formerEnd.expiresAt, ENDINGS.indexOf(formerEnd.ending)];
  const category = formerEnd?.category === undefined ? [] : [formerEnd.category];
  return [ENDINGS.indexOf(ending), confirmedAt ?? null, ...(former ?? []), ...category];
}

const USUAL = 1;
/** What 0.3.0 shows as the writer of a marked row that has none. */
const NOBODY: Writer = { surface: "import" };
const UNKNOWN = 0;
const ENDINGS = ["default", "chosen"] as const satisfies readonly Ending[];

interface About {
  readonly writer?: Writer;
  readonly conversationId?: string;
  readonly ending?: Ending;
  /** Only with an ending. */
  readonly confirmedAt?: number;
  /** Only with an ending. */
  readonly formerEnd?: FormerEnd;
}

export interface Content extends About {
  readonly value: Uint8Array;
}

/** Undefined for anything that {@link encodeContent} did not create. */
export function decodeContent(content: Uint8Array): Content | undefined {
  if (content.byteLength < LENGTH_BYTES) return undefined;
  const view = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const valueStart = LENGTH_BYTES + view.readUInt16BE();
  if (valueStart > content.byteLength) return undefined;
  const value = content.subarray(valueStart);
  if (valueStart === LENGTH_BYTES) return { value };
  const about = parseAbout(view.toString("utf8", LENGTH_BYTES, valueStart));
  return about && { value, ...about };
}

function parseAbout(json: string): About | undefined {
  const [surface, agent, sessionKind, mark, conversationId, author, place, confirmedAt, ...former] =
    jsonListOf(json);
  if (typeof surface !== "string" && mark !== USUAL) return undefined;
  // A row of version 0.3 has the first mark alone.
  const ending = typeof place === "number" ? ENDINGS[place] : mark === USUAL ? "default" : undefined;
  const others = {
    ...defined({ ending, formerEnd: formerEndOf(former) }),
    ...(typeof confirmedAt === "number" && { confirmedAt }),
    ...(typeof conversationId === "string" && { conversationId }),
  };
  if (typeof surface !== "string" || author === UNKNOWN) return others;
  const writer = {
    surface,
    ...(typeof agent === "string" && { agent }),
    ...(typeof sessionKind === "string" && { sessionKind }),
  };
  return { writer, ...others };
}

function formerEndOf([at, expiresAt, place, category]: readonly unknown[]): FormerEnd | undefined {
  const ending = typeof place === "number" ? ENDINGS[place] : undefined;
  if (typeof at !== "number" || typeof expiresAt !== "number" || ending === undefined) return undefined;
  return { expiresAt, ending, at, ...(typeof category === "string" && { category }) };
}
