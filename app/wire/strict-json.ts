/** Detects what JSON.parse accepts but two readers may interpret differently: duplicate keys and unlimited nesting. */

const MOST_JSON_DEPTH = 64;

/** In text that JSON.parse accepts, everything between these tokens is irrelevant. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g;

/** The problem of a body or line; undefined when there is none. Requires text that JSON.parse accepts. */
export function problemOfJson(text: string): string | undefined {
  const open: Set<unknown>[] = [];
  for (const [token, colon] of text.matchAll(TOKEN)) {
    if (token === "}" || token === "]") open.pop();
    if (token === "{" || token === "[") open.push(new Set());
    if (open.length > MOST_JSON_DEPTH) return `is nested more than ${MOST_JSON_DEPTH} deep`;
    if (colon !== undefined && isRepeated(open.at(-1), JSON.parse(token.slice(0, -colon.length)))) {
      return "has a duplicate field; give each once";
    }
  }
  return undefined;
}

function isRepeated(keys: Set<unknown> | undefined, key: unknown): boolean {
  if (keys?.has(key)) return true;
  keys?.add(key);
  return false;
}
