/** Conflict rules: what happens when an imported entry already exists. */
/** `newer`: the later write wins; of equally new ones, the one that lives longer. */
export const CONFLICT_RULES = ["newer", "keep", "replace"] as const;
export type ConflictRule = (typeof CONFLICT_RULES)[number];

/** Unix milliseconds. */
interface Times {
  readonly updatedAt?: number;
  /** Absent: never expires. */
  readonly expiresAt?: number;
}

/** Whether the existing entry stays. An entry without a time counts as written now. */
export function keepsExisting(
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
