/** The memory of one registration: leased at first use, released with the registration. */

import type { Memory } from "../app/memory.ts";
import { HelmdeckError } from "../engine/errors.ts";
import type { Lease } from "./shared-memory.ts";

export interface MemoryAccess {
  /** The memory. Rejects with a HelmdeckError if it is unavailable; the next call tries again. */
  open(): Promise<Memory>;
  /** Releases the lease; a later `open` leases again. */
  close(): Promise<void>;
  /** Releases for good: a late `open` is refused, so that it leaves nothing open. */
  dispose(): Promise<void>;
}

/** `lease` is called at first use, and never concurrently. */
export function makeMemoryAccess(lease: () => Promise<Lease>): MemoryAccess {
  let leasing: Promise<Lease> | undefined;
  let isDisposed = false;

  async function close(): Promise<void> {
    const current = leasing;
    leasing = undefined;
    const leased = await current?.catch(() => undefined);
    await leased?.release();
  }

  return {
    async open() {
      if (isDisposed)
        throw new HelmdeckError("memory_unavailable", "The plugin was reloaded or unloaded; try again.");
      leasing ??= lease();
      const attempt = leasing;
      try {
        return (await attempt).memory;
      } catch (error) {
        if (leasing === attempt) leasing = undefined;
        throw error;
      }
    },
    close,
    dispose() {
      isDisposed = true;
      return close();
    },
  };
}
