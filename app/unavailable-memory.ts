/** A memory that did not open: every use case fails with the reason, and status and doctor describe the problem. */
import { HelmdeckError } from "../engine/index.ts";
import { examineFailure } from "./health/examine-memory.ts";
import { type Memory, memoryFrom } from "./memory.ts";
import { failedStatus } from "./overview.ts";
import type { StorageLocation } from "./storage-location.ts";

/** `reason`: the error of opening. */
export function unavailableMemory(reason: HelmdeckError, place: StorageLocation, driver: string): Memory {
  const refuse = async (): Promise<never> => {
    const message = `Memory is not available: ${reason.message} (${reason.code}) Fix this, then restart the server.`;
    throw new HelmdeckError("memory_unavailable", message, {
      details: { ...reason.details, reason: reason.code },
      cause: reason,
    });
  };
  const location = { databasePath: place.databasePath, keySource: place.keyPath, driver };
  return {
    ...memoryFrom(() => refuse),
    status: async () => failedStatus(location, reason),
    doctor: () => examineFailure(place, reason),
    close: async () => {},
  };
}
