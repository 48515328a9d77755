/**
 * Keys of audit rows: `<category>/<pack, pipeline or tool>/<20-digit unix nanoseconds>`. A prefix selects the history of one
 * pack.
 */
import { createHash } from "node:crypto";

/** The category of each kind of row. */
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

/** The prefix of this pack's, pipeline's or tool's keys, and of no others: "/" and "%" in the name are escaped. */
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
 * A nanosecond within a known second, derived from the row: importing a line twice writes one row, and different rows of one
 * second stay apart.
 */
export function deriveUnixNs(atUnix: number, row: Uint8Array): bigint {
  const digest = createHash("sha256").update(row).digest();
  return BigInt(atUnix) * NS_PER_SECOND + (digest.readBigUInt64BE(0) % NS_PER_SECOND);
}

/**
 * Gives each finished run its own nanosecond. The clock has milliseconds; a sequence with a random start fills in the rest, so
 * that runs do not overwrite each other, in this process or in another.
 */
export class RunClock {
  readonly #now: () => number;
  readonly #random: () => number;
  #sequence: number;

  /** @param now Unix milliseconds @param random from 0 up to, but not including, 1 */
  constructor(now: () => number, random: () => number) {
    this.#now = now;
    this.#random = random;
    this.#sequence = Math.floor(random() * SEQUENCE_SPAN);
  }

  /** A nanosecond within the second in which the run ended. */
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
