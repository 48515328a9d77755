/** A time span as typed: `90d`, `12h`, or plain seconds. */

const SECONDS_PER: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** Whole seconds, or undefined if the text is not a time span. The facts policy checks the bounds. */
export function parseSeconds(text: string): number | undefined {
  const match = /^(\d{1,10})([smhdw]?)$/.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) * (SECONDS_PER[match[2] ?? ""] ?? 1);
}
