/** The rules of keeping facts apart: that they stay as they are, although they say the same or contradict each other. */
import { invalidField } from "../errors.ts";
import { requireUpTo } from "../rules/conditions.ts";
import type { DecideRenewal, EntryId, Revision } from "../store/memory-store.ts";
import { apartFrom, isApartMark } from "./marks.ts";

export const APART_LIMITS = {
  /** Facts that somebody looks at together: one that is kept, and as many as one store supersedes. */
  together: 10,
  /** Facts that one fact is kept apart from. */
  perFact: 50,
} as const;

/** A mark for each of the others. Throws `changed_meanwhile` for a fact that was written after what was shown, and `invalid_input`. */
export function keepingApart(others: readonly EntryId[], upTo: Revision | undefined): DecideRenewal {
  return (entry) => {
    const missing = others.map(apartFrom).filter((mark) => !entry.tags.includes(mark));
    if (missing.length === 0) return undefined;
    requireUpTo(entry, upTo);
    const tags = [...entry.tags, ...missing];
    if (tags.filter(isApartMark).length > APART_LIMITS.perFact)
      throw invalidField(
        "keys",
        `name a fact that is kept apart from ${APART_LIMITS.perFact} others, which is the limit; merge or forget some of them`,
      );
    return { tags };
  };
}

export function askingAgain(others: readonly EntryId[]): DecideRenewal {
  const marks = others.map(apartFrom);
  return ({ tags }) =>
    tags.some((tag) => marks.includes(tag))
      ? { tags: tags.filter((tag) => !marks.includes(tag)) }
      : undefined;
}
