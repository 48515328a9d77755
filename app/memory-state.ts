/** What became of a server's memory when it was opened. */
import type { HelmdeckError } from "../engine/index.ts";

/** `ephemeral`: no key and no data were found, so memory lives in this process only and is gone with it. */
export type MemoryState =
  | { readonly state: "ready"; readonly databasePath: string; readonly keySource: string }
  | { readonly state: "ephemeral"; readonly warning: string }
  /** `recovers`: it is opened by itself once its database server answers. */
  | { readonly state: "unavailable"; readonly error: HelmdeckError; readonly recovers?: true };
