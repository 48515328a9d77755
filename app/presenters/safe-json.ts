/**
 * JSON that is exact for a program and harmless for a terminal.
 *
 * Whoever can have something remembered (a web page that an agent read, a line of an import) chooses what a person's
 * terminal later prints. JSON.stringify escapes only the oldest control characters; the one-byte escape sequences of C1 and
 * the characters that turn or hide text would pass. They are written as JSON's own escapes, so the parsed value is the same.
 */

const ACTS_ON_A_TERMINAL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The value as one line of JSON. */
export function safeJson(value: unknown): string {
  return escapeJson(JSON.stringify(value));
}

/** A text that is JSON already, without line ends. */
export function escapeJson(json: string): string {
  return json.replace(ACTS_ON_A_TERMINAL, (character) => {
    const units = Array.from({ length: character.length }, (_none, index) => character.charCodeAt(index));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}
