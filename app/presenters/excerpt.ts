/** The first words of a value, escaped, on one line. */
import { cutText, harmlessLine } from "../../engine/index.ts";

/** At most this many UTF-16 units, in whole words if possible; "…" marks a cut. */
export function firstWords(value: string, most = 80): string {
  const line = harmlessLine(
    cutText(value, 4 * most)
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
  if (line.length <= most && value.length <= 4 * most) return line;
  const cut = cutText(line, most - 1);
  const lastSpace = cut.lastIndexOf(" ");
  return `${lastSpace > most / 2 ? cut.slice(0, lastSpace) : cut}…`;
}
