/** The usage of all subjects, from the rows that count that of each. */
import type { TotalUsage } from "../memory-store.ts";

export const TOTAL_USAGE =
  "SELECT sum(entries) AS entries, sum(bytes) AS bytes, max(entries) AS most_entries, max(bytes) AS most_bytes";

export function totalUsageIn(row: Readonly<Record<string, unknown>> | undefined): TotalUsage {
  const count = (column: string) => Number(row?.[column] ?? 0);
  const largest = { entries: count("most_entries"), bytes: count("most_bytes") };
  return { entries: count("entries"), bytes: count("bytes"), largest };
}
