/** What JSON.parse lets pass and two readers may take differently: a key given twice in one object, and bottomless nesting. */

const MOST_JSON_DEPTH = 64;

/** In text that JSON.parse takes, everything between these is of no interest. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g;

/** What a body or line does wrong, or undefined when it does nothing wrong. Wants text that JSON.parse has taken. */
export function problemOfJson(text: string): string | undefined {
  const open: Set<unknown>[] = [];
  for (const [token, colon] of text.matchAll(TOKEN)) {
    if (token === "}" || token === "]") open.pop();
    if (token === "{" || token === "[") open.push(new Set());
    if (open.length > MOST_JSON_DEPTH) return `is nested more than ${MOST_JSON_DEPTH} deep`;
    if (colon !== undefined && isRepeated(open.at(-1), JSON.parse(token.slice(0, -colon.length)))) {
      return "gives a field twice; give each once";
    }
  }
  return undefined;
}

function isRepeated(keys: Set<unknown> | undefined, key: unknown): boolean {
  if (keys?.has(key)) return true;
  keys?.add(key);
  return false;
}
