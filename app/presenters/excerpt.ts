/** The first words of a value, on one harmless line. */
import { cutText, harmlessLine } from "../../engine/index.ts";

/** At most so many UTF-16 units, whole words where there are any; "…" behind what goes on. */
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
