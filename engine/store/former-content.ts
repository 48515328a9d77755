/** Encodes a former value for sealing: its length in four bytes, its metadata as JSON, and the value. */
import { defined } from "../defined.ts";
import type { FormerValue } from "./memory-store.ts";

const LENGTH_BYTES = 4;

/** Everything except the value and the time, which has its own column. */
type About = Omit<FormerValue, "value" | "updatedAt">;

export function encodeFormer({ value, ...former }: FormerValue): Uint8Array {
  const { key, category, tags, createdAt, expiresAt, writer, life, into, joined } = former;
  const about: About = {
    ...{ key, category, tags, createdAt, joined },
    ...defined({ expiresAt, writer, life, into }),
  };
  const json = Buffer.from(JSON.stringify(about));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.byteLength);
  return Buffer.concat([length, json, value]);
}

/** Undefined for anything that {@link encodeFormer} did not create. */
export function decodeFormer(content: Uint8Array, updatedAt: number): FormerValue | undefined {
  if (content.byteLength < LENGTH_BYTES) return undefined;
  const view = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const valueStart = LENGTH_BYTES + view.readUInt32BE();
  if (valueStart > content.byteLength) return undefined;
  const about = parse(view.toString("utf8", LENGTH_BYTES, valueStart));
  return about && { ...about, value: Uint8Array.from(content.subarray(valueStart)), updatedAt };
}

function parse(json: string): About | undefined {
  try {
    // It was authenticated, so it is what was written; unknown fields of a later version are dropped.
    const { key, category, tags, createdAt, expiresAt, writer, life, into, joined } = JSON.parse(
      json,
    ) as About;
    if (typeof key !== "string" || typeof category !== "string" || !Array.isArray(tags)) return undefined;
    return { key, category, tags, createdAt, joined, ...defined({ expiresAt, writer, life, into }) };
  } catch {
    return undefined;
  }
}
