/**
 * Marks: what only our own code says about a fact, among its tags. The pin is the only one.
 *
 * Threat: an agent or an imported file that pins a fact by itself, past the limits and past the person. A mark begins with a space,
 * and every version trims the tags that it is given, so nobody can set one from outside. Stores ignore the marks of what is put or
 * brought back: a fact keeps those that it has. Nobody can write one into the database, whose columns are authenticated.
 */
import { isImportTag } from "./import-tag.ts";

type Tags = readonly string[];

/** The fact stands in every prompt of its agent. */
export const PINNED = " pinned";

function isMark(tag: string): boolean {
  return tag === PINNED;
}

export function isPinned({ tags }: { readonly tags: Tags }): boolean {
  return tags.includes(PINNED);
}

/** As people and programs see them. */
export function withoutMarks(tags: Tags): Tags {
  return tags.filter((tag) => !isMark(tag));
}

/** These tags, with the marks of what is there. */
export function keepingMarks(tags: Tags, there: { readonly tags: Tags } | undefined): Tags {
  return [...withoutMarks(tags), ...(there?.tags ?? []).filter(isMark)];
}

/** What somebody chose: neither marks nor the tag of an import, from which a store detaches a fact. */
export function ownTags(tags: Tags): Tags {
  return withoutMarks(tags).filter((tag) => !isImportTag(tag));
}
