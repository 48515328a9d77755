/** A fact as `get --json` and `list --json` print it. */
import type { FactView } from "../app/index.ts";
import { rfc3339 } from "./local-times.ts";

export function factJson({ createdAt, updatedAt, expiresAt, ...fact }: FactView) {
  return {
    ...fact,
    createdAt: rfc3339(createdAt),
    updatedAt: rfc3339(updatedAt),
    ...(expiresAt === undefined ? {} : { expiresAt: rfc3339(expiresAt) }),
  };
}
