/** The memory of one registration: leased at the first need, given back with the registration. */
import { HelmdeckError, type Memory } from "../app/index.ts";
import type { Lease } from "./shared-memory.ts";

export interface MemoryAccess {
  /** The memory. Rejects with a HelmdeckError when it cannot be had; the next call tries again. */
  open(): Promise<Memory>;
  /** Gives back what is open; a later `open` leases anew. */
  close(): Promise<void>;
  /** Gives back for good: afterwards `open` is refused, so that a call that comes late leaves nothing behind. */
  dispose(): Promise<void>;
}

/** `lease` is called at the first need, and once at a time. */
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
        throw new HelmdeckError("memory_unavailable", "The plugin was reloaded or unloaded; ask again.");
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
