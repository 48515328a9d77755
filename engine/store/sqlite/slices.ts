/** Slices long work, so that nobody waits longer than one slice for somebody else's work. */
import { setTimeout as delay } from "node:timers/promises";

/** The length of one transaction without its commit; reduced when a slice with its commit takes too long. */
const SLICE_MS = 15;
const SHORTEST_MS = 4;
const WHOLE_SLICE_MS = 40;
/** Processes that wait for the lock check it at least every 25 ms. */
const SHORTEST_PAUSE_MS = 26;
const LONGEST_PAUSE_MS = 100;

/** Returns a function that tells whether the current slice has taken long enough. */
export function sliceEnd(ms = SLICE_MS): () => boolean {
  const until = performance.now() + ms;
  return () => performance.now() >= until;
}

/**
 * Runs slices, each a write transaction that ends on request, until one reports that it was the last. After each it pauses for as
 * long as the slice took, and at least for one polling interval: SQLite does not queue waiting processes, and they would miss a
 * shorter pause. On a slow disk, when a slice's commit takes longer than its work, the next slice is smaller.
 */
export async function inSlices(slice: (isOver: () => boolean) => Promise<boolean>): Promise<void> {
  for (let ms = SLICE_MS; ; ) {
    const began = performance.now();
    if (await slice(sliceEnd(ms))) return;
    const took = performance.now() - began;
    await delay(Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, took)));
    ms = Math.min(SLICE_MS, Math.max(SHORTEST_MS, (ms * WHOLE_SLICE_MS) / took));
  }
}
