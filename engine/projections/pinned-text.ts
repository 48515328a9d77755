/** Pinned facts as they stand in prompts: without times, so that the text changes only with a pin or its value. */
import { nameOf, quotedText } from "./frame.ts";

/** Of one subject. Tokens are estimated. */
export const PIN_LIMITS = { facts: 10, tokens: 300 } as const;

const CHARACTERS_PER_TOKEN = 4;

interface Pinned {
  readonly key: string;
  readonly value: string;
}

/** An estimate. */
export function tokensOf(pinned: readonly Pinned[]): number {
  const characters = pinned.reduce((sum, one) => sum + pinnedText(one).length + "\n".length, 0);
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** The texts within the limit, in the given order, and the keys of the facts that grew beyond it. */
export function pinnedTexts(pinned: readonly Pinned[]): {
  readonly texts: readonly string[];
  readonly leftOut: readonly string[];
} {
  const shown: Pinned[] = [];
  for (const one of pinned.slice(0, PIN_LIMITS.facts))
    if (tokensOf([...shown, one]) <= PIN_LIMITS.tokens) shown.push(one);
  const leftOut = pinned.filter((one) => !shown.includes(one)).map(({ key }) => key);
  return { texts: shown.map(pinnedText), leftOut };
}

/** The stored text is a quotation, as in hits. */
function pinnedText({ key, value }: Pinned): string {
  return `${nameOf({ kind: "fact", key })}:\n${quotedText(value)}`;
}
