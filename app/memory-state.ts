/** The result of opening a server's memory. */
import type { HelmdeckError } from "../engine/index.ts";

/** `ephemeral`: there were neither key nor data, so memory lives in this process only and ends with it. */
export type MemoryState =
  | { readonly state: "ready"; readonly databasePath: string; readonly keySource: string }
  | { readonly state: "ephemeral"; readonly warning: string }
  /** `recovers`: it opens automatically once its database server answers. */
  | { readonly state: "unavailable"; readonly error: HelmdeckError; readonly recovers?: true };
