/** Work that grows with the data is done in slices: nobody waits longer than one of them for somebody else's. */
import { setTimeout as delay } from "node:timers/promises";

/** Of one transaction, without its commit; less where a slice with its commit takes longer than it should. */
const SLICE_MS = 15;
const SHORTEST_MS = 4;
const WHOLE_SLICE_MS = 40;
/** Whoever waits for the lock looks every 25 ms at the latest. */
const SHORTEST_PAUSE_MS = 26;
const LONGEST_PAUSE_MS = 100;

/** Whether the slice that begins now has taken long enough. */
export function sliceEnd(ms = SLICE_MS): () => boolean {
  const until = performance.now() + ms;
  return () => performance.now() >= until;
}

/**
 * Runs slices, each a write transaction that ends when it is told to, until one says that it is the last. After each it pauses for as
 * long as that took, and never less than those who wait take between two looks: SQLite does not queue them, and in a shorter pause they
 * would not find the lock free. On a slow disk, where the commit of a slice takes longer than its work, the next has less to commit.
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
