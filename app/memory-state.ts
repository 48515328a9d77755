/** The result of opening a server's memory, at its start. */
import type { HelmdeckError } from "../engine/errors.ts";

/** `ephemeral`: there were neither key nor data, so memory lives in this process only and ends with it. */
export type MemoryState =
  | {
      readonly state: "ready";
      readonly databasePath: string;
      readonly keySource: string;
      /** For a person: it is empty, or another one than before. */
      readonly notice?: string;
    }
  | { readonly state: "ephemeral"; readonly warning: string }
  /** It opens by itself once the reason is gone. */
  | { readonly state: "unavailable"; readonly error: HelmdeckError };
