/**
 * JSON that is exact for programs and safe for terminals.
 *
 * An attacker who can get a fact stored (a web page that an agent read, a line of an import) chooses what a person's terminal
 * later prints. JSON.stringify escapes only the C0 control characters; the one-byte escape sequences of C1 and characters that
 * reorder or hide text would pass. They are written as JSON escapes, so the parsed value is the same.
 */

const ACTS_ON_A_TERMINAL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The value as one line of JSON. */
export function safeJson(value: unknown): string {
  return escapeJson(JSON.stringify(value));
}

/** For a text that already is JSON, without line breaks. */
export function escapeJson(json: string): string {
  return json.replace(ACTS_ON_A_TERMINAL, (character) => {
    const units = Array.from({ length: character.length }, (_none, index) => character.charCodeAt(index));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}
