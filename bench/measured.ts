/** What every benchmark hands back: a section for docs/benchmarks.md, and the raw figures behind it. */

export interface Measured {
  readonly title: string;
  /** Text and tables; no heading. */
  readonly markdown: string;
  /** What the text shows from a file beside docs/benchmarks.md. */
  readonly picture?: { readonly name: string; readonly svg: string };
  readonly json: unknown;
}

/** Nearest rank; NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** A markdown table; all columns but the first are numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(head),
    `|${head.map((_, column) => (column === 0 ? "---" : "---:")).join("|")}|`,
    ...rows.map(line),
  ].join("\n");
}
