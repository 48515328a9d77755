/** Who wrote an entry, as the host vouches for it: never from an argument, and sealed with the value. */
import { invalidField } from "../errors.ts";

export interface Writer {
  /** The way in: `openclaw`, `rest`, `cli`, `pack` (over MCP, as a rule). */
  readonly surface: string;
  /** The agent, token subject or caller behind it. */
  readonly agent?: string;
  /** What kind of session it was, such as `direct`, `group`, `subagent` or `cron`. */
  readonly sessionKind?: string;
}

const LIMITS = { surface: 64, agent: 2_048, sessionKind: 64 } as const;
type Field = keyof typeof LIMITS;
const FIELDS = Object.keys(LIMITS) as readonly Field[];

const LENGTH_BYTES = 2;

/** Throws `invalid_input`, naming the field and its limit in bytes of UTF-8. */
export function checkWriter(writer: Writer): void {
  for (const field of FIELDS) {
    const text = writer[field];
    const least = field === "surface" ? 1 : 0;
    const bytes = Buffer.byteLength(text ?? "");
    if (text?.isWellFormed() !== false && bytes >= least && bytes <= LIMITS[field]) continue;
    throw invalidField(`writer.${field}`, `must be text of ${least} to ${LIMITS[field]} bytes`);
  }
}

/** What is sealed: two bytes of length, the writer as JSON (nothing where nobody is named), and the value. */
export function encodeContent(value: Uint8Array, writer: Writer | undefined): Uint8Array {
  const named = writer === undefined ? "" : JSON.stringify(FIELDS.map((field) => writer[field] ?? null));
  const writerBytes = Buffer.byteLength(named);
  const content = Buffer.allocUnsafe(LENGTH_BYTES + writerBytes + value.byteLength);
  content.writeUInt16BE(writerBytes);
  content.write(named, LENGTH_BYTES);
  content.set(value, LENGTH_BYTES + writerBytes);
  return content;
}

export interface Content {
  readonly value: Uint8Array;
  readonly writer?: Writer;
}

/** Undefined for what {@link encodeContent} does not make. */
export function decodeContent(content: Uint8Array): Content | undefined {
  if (content.byteLength < LENGTH_BYTES) return undefined;
  const view = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const valueStart = LENGTH_BYTES + view.readUInt16BE();
  if (valueStart > content.byteLength) return undefined;
  const value = content.subarray(valueStart);
  if (valueStart === LENGTH_BYTES) return { value };
  const writer = parseWriter(view.toString("utf8", LENGTH_BYTES, valueStart));
  return writer && { value, writer };
}

function parseWriter(json: string): Writer | undefined {
  try {
    const parsed: unknown = JSON.parse(json);
    if (!Array.isArray(parsed)) return undefined;
    const [surface, agent, sessionKind]: readonly unknown[] = parsed;
    if (typeof surface !== "string") return undefined;
    return {
      surface,
      ...(typeof agent === "string" && { agent }),
      ...(typeof sessionKind === "string" && { sessionKind }),
    };
  } catch {
    return undefined;
  }
}
