/** How closely the query's words stand together in a passage: as a phrase, near one another, or scattered. */
import type { Concept } from "./query.ts";

/**
 * 0 (scattered) to 1 (the query's words follow each other as they were asked), weighted by the words' weight.
 * `conceptOf[term]` is the number of a term's concept, from 1; 0 for every other term.
 */
export function proximityOf(body: Uint32Array, conceptOf: Uint8Array, concepts: readonly Concept[]): number {
  if (concepts.length < 2) return 0;
  const lastSeen = new Int32Array(concepts.length).fill(-1);
  const closeness = new Float32Array(concepts.length);
  for (let at = 0; at < body.length; at += 1) {
    const concept = (conceptOf[body[at] ?? 0] ?? 0) - 1;
    if (concept < 0) continue;
    lastSeen[concept] = at;
    for (const pair of [concept - 1, concept]) note(closeness, pair, lastSeen, concepts);
  }
  return weighted(closeness, concepts);
}

/** Concepts `pair` and `pair + 1`: the best closeness seen so far. */
function note(
  closeness: Float32Array,
  pair: number,
  lastSeen: Int32Array,
  concepts: readonly Concept[],
): void {
  const first = lastSeen[pair] ?? -1;
  const second = lastSeen[pair + 1] ?? -1;
  const asked = (concepts[pair + 1]?.position ?? 0) - (concepts[pair]?.position ?? 0);
  if (first < 0 || second < 0) return;
  const detour = second > first ? Math.max(0, second - first - asked) : first - second + 1;
  closeness[pair] = Math.max(closeness[pair] ?? 0, 1 / (1 + detour / 3));
}

function weighted(closeness: Float32Array, concepts: readonly Concept[]): number {
  let sum = 0;
  let total = 0;
  for (let pair = 0; pair + 1 < concepts.length; pair += 1) {
    const weight = Math.min(concepts[pair]?.weight ?? 0, concepts[pair + 1]?.weight ?? 0);
    sum += weight * (closeness[pair] ?? 0);
    total += weight;
  }
  return total === 0 ? 0 : sum / total;
}
