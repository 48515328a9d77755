/**
 * Marks: what only our own code says about a fact, among its tags: that it is pinned, and which facts it is kept apart from.
 *
 * Threat: an agent or an imported file that pins a fact by itself, past the limits and past the person, or that keeps a contradiction
 * from being shown. A mark begins with a space, and every version trims the tags that it is given, so nobody can set one from outside.
 * Stores ignore the marks of what is put or brought back: a fact keeps those that it has. Nobody can write one into the database, whose
 * columns are authenticated.
 */
import type { EntryId } from "../store/memory-store.ts";
import { isImportTag } from "./import-tag.ts";

type Tags = readonly string[];
interface Tagged {
  readonly tags: Tags;
}

/** The fact stands in every prompt of its agent. */
export const PINNED = " pinned";
/** With another fact's id: somebody looked at both values, and both stay. */
const APART = " apart:";

export function apartFrom(id: EntryId): string {
  return `${APART}${id}`;
}

export function isApartMark(tag: string): boolean {
  return tag.startsWith(APART);
}

function isMark(tag: string): boolean {
  return tag === PINNED || isApartMark(tag);
}

export function isPinned({ tags }: Tagged): boolean {
  return tags.includes(PINNED);
}

/** Each names the other, so a new value of one asks again. */
export function areApart(one: Tagged & { readonly id: EntryId }, other: typeof one): boolean {
  return one.tags.includes(apartFrom(other.id)) && other.tags.includes(apartFrom(one.id));
}

/** As people and programs see them. */
export function withoutMarks(tags: Tags): Tags {
  return tags.filter((tag) => !isMark(tag));
}

/** These tags, with the marks of what is there. What it is kept apart from is about its value, and goes with that. */
export function keepingMarks(tags: Tags, there: Tagged | undefined, isSameValue: boolean): Tags {
  const kept = (there?.tags ?? []).filter((tag) => isMark(tag) && (isSameValue || !isApartMark(tag)));
  return [...withoutMarks(tags), ...kept];
}

/** What somebody chose: neither marks nor the tag of an import, from which a store detaches a fact. */
export function ownTags(tags: Tags): Tags {
  return withoutMarks(tags).filter((tag) => !isImportTag(tag));
}
