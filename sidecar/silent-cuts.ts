/** Tells a text that a service has cut without a word, by the number of tokens that it says it has read; pure. */

/** A model's beginning and end of a text, which a service may or may not count. */
const SPECIAL_TOKENS = 2;

/**
 * True when one of these texts may have been cut to `contextTokens`, so that it must be asked for again, alone or shorter.
 * `readTokens` counts all of them; undefined where the service does not say, and then nothing can be told.
 */
export function mayBeCut(
  texts: readonly string[],
  readTokens: number | undefined,
  contextTokens: number,
): boolean {
  const least = contextTokens - SPECIAL_TOKENS;
  if (readTokens === undefined || readTokens < least) return false;
  // A token stands for a byte or more.
  if (texts.every((text) => Buffer.byteLength(text) < least)) return false;
  // One text of which more was read than we thought possible was read whole.
  return texts.length > 1 || readTokens <= contextTokens;
}
