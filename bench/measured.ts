/** The result of a benchmark: a section for docs/benchmarks.md, and the raw figures behind it. */

export interface Measured {
  readonly title: string;
  /** The command that reproduces these figures. */
  readonly command: string;
  /** Text and tables, without a heading. */
  readonly markdown: string;
  /** Details for tuning a ranking. They are printed, but not written to docs/benchmarks.md. */
  readonly details?: string;
  /** A picture that the text shows, written beside docs/benchmarks.md. */
  readonly picture?: { readonly name: string; readonly svg: string };
  readonly json: unknown;
}

/** By the nearest-rank method. NaN for an empty list. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** For a cell of a table; empty if there is nothing to take a share of. */
export function percent(share: number, digits = 0): string {
  return Number.isNaN(share) ? "" : `${(100 * share).toFixed(digits)} %`;
}

/** A Markdown table. All columns but the first contain numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return linesOf(head, rows, (column) => (column === 0 ? "---" : "---:"));
}

/** A Markdown table of texts. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return linesOf(head, rows, () => "---");
}

function linesOf(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  alignOf: (column: number) => string,
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map((_, column) => alignOf(column)).join("|")}|`, ...rows.map(line)].join(
    "\n",
  );
}
