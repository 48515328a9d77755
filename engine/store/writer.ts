/** The writer of an entry, as vouched for by the host: never taken from an argument, and sealed with the value. */

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
 * The content to seal: two bytes of length, then JSON with the writer, a mark for a prolonged life and the conversation (empty when
 * there is none of them), then the value. Until 0.3.0, the list had to name a writer or the mark, and more fields were ignored.
 */
export function encodeContent({ value, writer, prolonged, conversationId, ...others }: Content): Uint8Array {
  others satisfies Record<string, never>; // every field is encoded
  const said = writer ?? (conversationId === undefined ? undefined : NOBODY);
  const about = [
    ...FIELDS.map((field) => said?.[field] ?? null),
    ...(prolonged || conversationId !== undefined ? [prolonged ? PROLONGED : null] : []),
    ...(conversationId === undefined ? [] : [conversationId, ...(writer === undefined ? [UNKNOWN] : [])]),
  ];
  const named = said === undefined && !prolonged ? "" : JSON.stringify(about);
  const writerBytes = Buffer.byteLength(named);
  const content = Buffer.allocUnsafe(LENGTH_BYTES + writerBytes + value.byteLength);
  content.writeUInt16BE(writerBytes);
  content.write(named, LENGTH_BYTES);
  content.set(value, LENGTH_BYTES + writerBytes);
  return content;
}

const PROLONGED = 1;
/** What 0.3.0 shows as the writer of a turn that has none. */
const NOBODY: Writer = { surface: "import" };
const UNKNOWN = 0;

interface About {
  readonly writer?: Writer;
  readonly prolonged?: true;
  readonly conversationId?: string;
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
  const [surface, agent, sessionKind, mark, conversationId, author] = jsonListOf(json);
  const others = {
    ...(mark === PROLONGED && ({ prolonged: true } as const)),
    ...(typeof conversationId === "string" && { conversationId }),
  };
  if (author === UNKNOWN) return others;
  if (typeof surface !== "string") return mark === PROLONGED ? others : undefined;
  const writer = {
    surface,
    ...(typeof agent === "string" && { agent }),
    ...(typeof sessionKind === "string" && { sessionKind }),
  };
  return { writer, ...others };
}
