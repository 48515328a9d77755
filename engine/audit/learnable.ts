/** Which inputs of a run are kept to learn from: a closed list of short, harmless fields. */

/** helmdeck's list. Anything else in a tool's input may be a secret, a blob or a person's words, and is not kept. */
export const LEARNABLE_FIELDS = [
  "persona",
  "audience",
  "angle",
  "model",
  "theme",
  "voice",
  "persona_used",
  "kind",
  "format",
  "title",
  "author",
] as const;

/** Longer texts are cut: they are free text, not a setting. */
const LEARNABLE_CHARACTERS = 200;

/** The listed top-level texts that are not empty, cut; undefined when there are none. Takes any tool input. */
export function learnableInputs(input: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const given = new Map<string, unknown>(Object.entries(input));
  const kept = LEARNABLE_FIELDS.flatMap((field) => {
    const value = cutInput(given.get(field));
    return value === undefined ? [] : [[field, value] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** A text that is not empty, cut; undefined for anything else. */
export function cutInput(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? cut(value.trim()) : undefined;
}

/** By code points, so that no pair of surrogates is cut in two. */
function cut(text: string): string {
  return [...text.slice(0, 2 * LEARNABLE_CHARACTERS)].slice(0, LEARNABLE_CHARACTERS).join("").toWellFormed();
}
