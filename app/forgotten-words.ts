/** What a person or a model is told when a scope named nothing. */
import { quotedKey } from "../engine/index.ts";
import type { Forgotten } from "./memory.ts";

/** Which keys are near, and how to name one of them; undefined when none is. */
export function nearWords({ near = [] }: Pick<Forgotten, "near">): string | undefined {
  if (near.length === 0) return undefined;
  return `Near it: ${near.map((key) => quotedKey(`key:${key}`)).join(", ")}.`;
}
