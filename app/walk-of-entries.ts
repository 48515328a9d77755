/**
 * Walks through all facts and audit rows of a memory, newest first, without missing any that are written meanwhile.
 *
 * A rewritten entry moves to the front of a listing by time, which may already have passed there. So a walk notes the store's
 * revision at its start, and ends with everything written since. Such an entry may appear twice; the later one is newer.
 */

import { invalidField } from "../engine/errors.ts";
import type { Entry, MemoryStore } from "../engine/store/memory-store.ts";
import type { Namespace } from "../engine/store/namespace.ts";

/** A position in the listing, with the revision at the start of the walk; or among later writes. */
export type WalkPlace =
  | { readonly began: number; readonly listed?: string }
  | { readonly changesSince: number };

export interface WalkStep {
  readonly entries: readonly Entry[];
  /** Rows that do not open. */
  readonly unreadable: number;
  /** Absent at the end. */
  readonly next?: WalkPlace;
}

const ORIGINS = ["fact", "audit"] as const;

export async function startOfWalk(store: MemoryStore, namespace: Namespace): Promise<WalkPlace> {
  return { began: await store.revision(namespace) };
}

/** The next rows, at most this many. */
export async function stepOfWalk(
  store: MemoryStore,
  namespace: Namespace,
  place: WalkPlace,
  limit: number,
): Promise<WalkStep> {
  if ("changesSince" in place) return stepOfChanges(store, namespace, place.changesSince, limit);
  const { began, listed } = place;
  const page = await store.list({ namespace, origin: ORIGINS, limit, ...(listed && { cursor: listed }) });
  const step = { entries: page.entries, unreadable: page.unreadable.length };
  if (page.nextCursor !== undefined) return { ...step, next: { began, listed: page.nextCursor } };
  const isStill = (await store.revision(namespace)) === began;
  return isStill ? step : { ...step, next: { changesSince: began } };
}

async function stepOfChanges(
  store: MemoryStore,
  namespace: Namespace,
  since: number,
  limit: number,
): Promise<WalkStep> {
  const changes = await store.changes({ namespace, since, limit });
  // So much was written that old changes were pruned: everything is listed once more.
  if (changes.kind === "start_over") return { entries: [], unreadable: 0, next: { changesSince: 0 } };
  const isWalked = ({ origin }: Pick<Entry, "origin">) => ORIGINS.some((walked) => walked === origin);
  return {
    entries: changes.upserts.filter(isWalked),
    unreadable: changes.unreadable.filter(isWalked).length,
    ...(changes.more && { next: { changesSince: changes.cursor } }),
  };
}

export function encodePlace(place: WalkPlace): string {
  const parts = "changesSince" in place ? ["since", place.changesSince] : ["list", place.began, place.listed];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** Throws `invalid_input` for anything that {@link encodePlace} did not create. */
export function decodePlace(cursor: string): WalkPlace {
  const [kind, number, listed, ...more] = partsOf(Buffer.from(cursor, "base64url").toString());
  if (typeof number !== "number" || !Number.isSafeInteger(number) || more.length > 0) throw notACursor();
  if (kind === "since" && listed === undefined) return { changesSince: number };
  if (kind === "list" && typeof listed === "string") return { began: number, listed };
  throw notACursor();
}

function partsOf(json: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(json);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

function notACursor() {
  return invalidField("cursor", "is not from an earlier page; leave it out");
}
