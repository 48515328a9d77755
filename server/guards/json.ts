/** What JSON.parse lets pass and two readers may take differently: a key given twice in one object, and bottomless nesting. */

export const MOST_JSON_DEPTH = 64;

/** In text that JSON.parse takes, everything between these is of no interest. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g;

/** A sentence, or undefined when there is none. Wants text that JSON.parse has taken. */
export function problemOfJson(text: string): string | undefined {
  const keysOfOpen: Set<string>[] = [];
  for (const [token, colon] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") {
      keysOfOpen.push(new Set());
      if (keysOfOpen.length > MOST_JSON_DEPTH) return `The body is nested more than ${MOST_JSON_DEPTH} deep.`;
    } else if (token === "}" || token === "]") {
      keysOfOpen.pop();
    } else if (colon !== undefined) {
      const keys = keysOfOpen.at(-1);
      const key: unknown = JSON.parse(token.slice(0, -colon.length));
      if (typeof key !== "string" || keys?.has(key)) return "The body gives a field twice; give each once.";
      keys?.add(key);
    }
  }
  return undefined;
}
