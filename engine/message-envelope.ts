/** The envelope that a host writes before a person's message: "[Mon 2026-11-23 17:02 UTC] ", with its channel and sender. */

const ENVELOPE = /^\s*\[[^\]\n]{0,160}\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d[^\]\n]{0,40}\]\s*(?=\S)/u;

/** The message itself. */
export function withoutEnvelope(message: string): string {
  return message.replace(ENVELOPE, "");
}
