/** Work that grows with the data is done in slices: nobody waits longer than one of them for somebody else's. */
import { setTimeout as delay } from "node:timers/promises";

/** Of one transaction, without its commit. */
const SLICE_MS = 15;
const LONGEST_PAUSE_MS = 100;

/** Whether the slice that begins now has taken long enough. */
export function sliceEnd(ms = SLICE_MS): () => boolean {
  const until = performance.now() + ms;
  return () => performance.now() >= until;
}

/**
 * Runs slices, each a write transaction, until one says that it is the last. After each it pauses for as long as that took: SQLite does
 * not queue those who wait for the lock, they look for it now and then, and in a shorter pause they would not find it free.
 */
export async function inSlices(slice: () => Promise<boolean>): Promise<void> {
  for (;;) {
    const began = performance.now();
    if (await slice()) return;
    await delay(Math.min(performance.now() - began, LONGEST_PAUSE_MS));
  }
}
