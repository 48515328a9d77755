/** Keys of audit rows: `<category>/<pack, pipeline or tool>/<20-digit unix nanoseconds>`, so that a prefix is one pack's history. */
import { createHash } from "node:crypto";

/** Where the rows of each kind stand. */
export const AUDIT_CATEGORIES = {
  pack: "pack_history",
  pipeline: "pipeline_history",
  tool: "tool_history",
} as const;
export type AuditCategory = (typeof AUDIT_CATEGORIES)[keyof typeof AUDIT_CATEGORIES];

const NS_PER_SECOND = 1_000_000_000n;
const NS_DIGITS = 20;
/** Nanoseconds in a millisecond. */
const SEQUENCE_SPAN = 1_000_000;
const KEY = /^([a-z]+_history)\/([^/]+)\/(\d{20})$/;

export interface AuditKeyParts {
  readonly category: AuditCategory;
  readonly name: string;
  readonly unixNs: bigint;
}

export function auditKey({ category, name, unixNs }: AuditKeyParts): string {
  return `${auditKeyPrefix(category, name)}${String(unixNs).padStart(NS_DIGITS, "0")}`;
}

export function isAuditCategory(category: string): category is AuditCategory {
  return Object.values<string>(AUDIT_CATEGORIES).includes(category);
}

/** What the keys of this pack's, pipeline's or tool's rows begin with, and no other's do: a "/" or "%" in the name is escaped. */
export function auditKeyPrefix(category: AuditCategory, name: string): string {
  return `${category}/${name.replaceAll("%", "%25").replaceAll("/", "%2F")}/`;
}

/** Undefined when the text is not a key that {@link auditKey} makes. */
export function parseAuditKey(key: string): AuditKeyParts | undefined {
  const [, category = "", escaped, digits] = KEY.exec(key) ?? [];
  if (!isAuditCategory(category) || escaped === undefined || digits === undefined) return undefined;
  const name = escaped.replaceAll("%2F", "/").replaceAll("%25", "%");
  const parts = { category, name, unixNs: BigInt(digits) };
  return auditKey(parts) === key ? parts : undefined;
}

export function unixSecondsOf(unixNs: bigint): number {
  return Number(unixNs / NS_PER_SECOND);
}

/**
 * A nanosecond within a second that is known only as such, derived from the row: importing one line twice writes one row,
 * and different rows of one second stay apart.
 */
export function deriveUnixNs(atUnix: number, row: Uint8Array): bigint {
  const digest = createHash("sha256").update(row).digest();
  return BigInt(atUnix) * NS_PER_SECOND + (digest.readBigUInt64BE(0) % NS_PER_SECOND);
}

/**
 * Hands out nanoseconds for runs as they end, none twice: the clock knows milliseconds, and a sequence with a random
 * start fills in the rest, so that neither two runs here nor one here and one in another process overwrite each other.
 */
export class RunClock {
  readonly #now: () => number;
  readonly #random: () => number;
  #sequence: number;

  /** @param now Unix milliseconds @param random from 0 up to but not 1 */
  constructor(now: () => number, random: () => number) {
    this.#now = now;
    this.#random = random;
    this.#sequence = Math.floor(random() * SEQUENCE_SPAN);
  }

  /** A nanosecond within the second that the run says it ended in. */
  next(atUnix: number): bigint {
    this.#sequence = (this.#sequence + 1) % SEQUENCE_SPAN;
    return (
      BigInt(atUnix) * NS_PER_SECOND + BigInt(this.#millisecondOf(atUnix) * SEQUENCE_SPAN + this.#sequence)
    );
  }

  #millisecondOf(atUnix: number): number {
    const now = Math.floor(this.#now());
    return Math.floor(now / 1_000) === atUnix ? now % 1_000 : Math.floor(this.#random() * 1_000);
  }
}
