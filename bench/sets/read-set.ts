/** Reads a set of test/data whose lines name their half, and checks each line. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";

/** Everything is tuned only on `tune`. The other half is only for measuring. */
export const half = z.enum(["tune", "held"]);

export const text = z.string().trim().min(1);

/** Throws at the first line of another shape, naming it. */
export function readSet<Line extends z.ZodType>(name: string, line: Line): readonly z.output<Line>[] {
  const path = fileURLToPath(new URL(`../../test/data/${name}.jsonl`, import.meta.url));
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((written, place) => {
    const checked = line.safeParse(JSON.parse(written));
    if (checked.success) return checked.data;
    throw new Error(`${name}.jsonl, line ${place + 1}: ${z.prettifyError(checked.error)}`);
  });
}
