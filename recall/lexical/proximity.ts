/** Measures how closely the query's words occur together in a passage: as a phrase, near each other, or scattered. */
import { WEIGHTS } from "../weights.ts";
import type { Concept } from "./analyse-query.ts";

export interface Places {
  /** The query word that a term stands for, or -1. */
  placeOf(term: number): number;
}

/** 0 (scattered) to 1 (in the query's order and adjacent), weighted by the words' weights. */
export function proximityOf(body: Uint32Array, places: Places, concepts: readonly Concept[]): number {
  if (concepts.length < 2) return 0;
  const lastSeen = new Int32Array(concepts.length).fill(-1);
  const closeness = new Float32Array(concepts.length);
  for (let at = 0; at < body.length; at += 1) {
    const place = places.placeOf(body[at] ?? 0);
    if (place < 0) continue;
    lastSeen[place] = at;
    if (place > 0) note(closeness, place - 1, lastSeen, concepts);
    if (place + 1 < concepts.length) note(closeness, place, lastSeen, concepts);
  }
  return weighted(closeness, concepts);
}

/** Records the best closeness so far of the words `place` and `place + 1`. */
function note(
  closeness: Float32Array,
  place: number,
  lastSeen: Int32Array,
  concepts: readonly Concept[],
): void {
  const first = lastSeen[place] ?? -1;
  const second = lastSeen[place + 1] ?? -1;
  if (first < 0 || second < 0) return;
  const asked = (concepts[place + 1]?.position ?? 0) - (concepts[place]?.position ?? 0);
  const detour = second > first ? Math.max(0, second - first - asked) : first - second + 1;
  closeness[place] = Math.max(closeness[place] ?? 0, 1 / (1 + detour / WEIGHTS.words.halvingDetour));
}

function weighted(closeness: Float32Array, concepts: readonly Concept[]): number {
  let sum = 0;
  let total = 0;
  for (let place = 0; place + 1 < concepts.length; place += 1) {
    const weight = Math.min(concepts[place]?.share ?? 0, concepts[place + 1]?.share ?? 0);
    sum += weight * (closeness[place] ?? 0);
    total += weight;
  }
  return total === 0 ? 0 : sum / total;
}
