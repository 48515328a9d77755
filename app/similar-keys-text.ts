/** Messages for a scope that matched nothing. */
import { quotedKey } from "../engine/index.ts";
import type { Forgotten } from "./memory.ts";

/** Similar keys, and how to name one; undefined when there are none. */
export function similarKeysText({ near = [] }: Pick<Forgotten, "near">): string | undefined {
  if (near.length === 0) return undefined;
  return `Similar: ${near.map((key) => quotedKey(`key:${key}`)).join(", ")}.`;
}
