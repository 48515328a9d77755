/** JSON texts that may be damaged, or come from elsewhere. */

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined if the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Empty if the text is not a JSON list. */
export function jsonListOf(text: string): readonly unknown[] {
  const parsed = jsonOf(text);
  return Array.isArray(parsed) ? parsed : [];
}
