/** Detects texts that a service has truncated silently, by its token count. Pure functions. */

/** Start and end tokens, which a service may or may not count. */
const SPECIAL_TOKENS = 2;

/**
 * Whether one of these texts may have been truncated to `contextTokens`, so that it must be sent again, alone or shorter.
 * `readTokens` covers all of them; when it is undefined, truncation cannot be detected.
 */
export function mayBeTruncated(
  texts: readonly string[],
  readTokens: number | undefined,
  contextTokens: number,
): boolean {
  const least = contextTokens - SPECIAL_TOKENS;
  if (readTokens === undefined || readTokens < least) return false;
  // A token stands for at least one byte.
  if (texts.every((text) => Buffer.byteLength(text) < least)) return false;
  // A single text with more tokens than the assumed context was read in full.
  return texts.length > 1 || readTokens <= contextTokens;
}
