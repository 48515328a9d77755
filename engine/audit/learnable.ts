/** Which inputs of a run are recorded: a closed list of short, harmless fields. */

/** helmdeck's list. Other inputs may hold a secret, a blob or personal text, and are not recorded. */
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

/** Longer texts are free text rather than a setting, and are truncated. */
const LEARNABLE_CHARACTERS = 200;

/** The listed top-level text fields that are not empty, truncated; undefined when there are none. Accepts any tool input. */
export function learnableInputs(input: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const given = new Map<string, unknown>(Object.entries(input));
  const kept = LEARNABLE_FIELDS.flatMap((field) => {
    const value = cutInput(given.get(field));
    return value === undefined ? [] : [[field, value] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The truncated text; undefined when it is empty or not a string. */
export function cutInput(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? cut(value.trim()) : undefined;
}

/** Counts code points, so that no surrogate pair is split. */
function cut(text: string): string {
  return [...text.slice(0, 2 * LEARNABLE_CHARACTERS)].slice(0, LEARNABLE_CHARACTERS).join("").toWellFormed();
}
