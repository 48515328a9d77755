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
 * The content to seal: two bytes of length, then JSON with the writer and a mark for a prolonged life (empty when there is
 * neither), then the value.
 */
export function encodeContent({ value, writer, prolonged, ...others }: Content): Uint8Array {
  others satisfies Record<string, never>; // every field is encoded
  const about = [...FIELDS.map((field) => writer?.[field] ?? null), ...(prolonged ? [PROLONGED] : [])];
  const named = writer === undefined && !prolonged ? "" : JSON.stringify(about);
  const writerBytes = Buffer.byteLength(named);
  const content = Buffer.allocUnsafe(LENGTH_BYTES + writerBytes + value.byteLength);
  content.writeUInt16BE(writerBytes);
  content.write(named, LENGTH_BYTES);
  content.set(value, LENGTH_BYTES + writerBytes);
  return content;
}

const PROLONGED = 1;

interface About {
  readonly writer?: Writer;
  readonly prolonged?: true;
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
  const [surface, agent, sessionKind, mark] = jsonListOf(json);
  const prolonged = mark === PROLONGED && ({ prolonged: true } as const);
  if (typeof surface !== "string") return prolonged || undefined;
  const writer = {
    surface,
    ...(typeof agent === "string" && { agent }),
    ...(typeof sessionKind === "string" && { sessionKind }),
  };
  return { writer, ...prolonged };
}
