/** What happens to an entry that is there already when another program's copy of it comes in. */
/** `newer`: whichever was written later, and of two alike the one that lives longer. */
export const CONFLICT_RULES = ["newer", "keep", "replace"] as const;
export type ConflictRule = (typeof CONFLICT_RULES)[number];

/** Unix milliseconds. */
interface Times {
  readonly updatedAt?: number;
  /** Absent: never. */
  readonly expiresAt?: number;
}

/** Whether what is there stays. What says no time of its own is written now, and so is newer. */
export function staysThere(
  there: Required<Pick<Times, "updatedAt">> & Times,
  given: Times,
  rule: ConflictRule,
): boolean {
  if (rule !== "newer") return rule === "keep";
  if (given.updatedAt === undefined) return false;
  if (there.updatedAt !== given.updatedAt) return there.updatedAt > given.updatedAt;
  return endOf(there) >= endOf(given);
}

function endOf({ expiresAt }: Times): number {
  return expiresAt ?? Number.POSITIVE_INFINITY;
}
