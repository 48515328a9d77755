/** SQL with its values: placeholders are written `?` and converted to PostgreSQL's when a statement is sent. */

/** Types of values: numbers are bigint, bytes bytea, and text is only used for our own names. */
export type SqlValue = number | string | boolean | Uint8Array | null | readonly (string | Uint8Array)[];

/** SQL with placeholders, and their values. The SQL itself holds no value, so that statements stay prepared. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

export const ALWAYS: Condition = { sql: "TRUE", values: [] };

/** Combines conditions with AND. */
export function all(conditions: readonly (Condition | undefined)[]): Condition {
  const given = conditions.filter((condition) => condition !== undefined && condition !== ALWAYS);
  if (given.length === 0) return ALWAYS;
  return {
    sql: given.map((condition) => `(${condition?.sql})`).join(" AND "),
    values: given.flatMap((condition) => condition?.values ?? []),
  };
}

export interface Prepared {
  readonly name: string;
  readonly text: string;
}

const PREPARED = new Map<string, Prepared>();

/** The same object for the same SQL, so that each connection parses and plans it once. */
export function prepared(sql: string): Prepared {
  const known = PREPARED.get(sql);
  if (known !== undefined) return known;
  let number = 0;
  const text = sql.replaceAll("?", () => {
    number += 1;
    return `$${number}`;
  });
  const made = { name: `hdm${PREPARED.size}`, text };
  PREPARED.set(sql, made);
  return made;
}
