/** Maps helmdeck's callers to our subjects. */
import { HelmdeckError, invalidField } from "../../../../engine/errors.ts";
import { harmlessLine } from "../../../../engine/facts/hostile-text.ts";
import type { Subject } from "../../../../engine/store/namespace.ts";
import { requireSubject } from "../../../subject.ts";

/** Shared by all agents of an OpenClaw that helmdeck's script configured. */
const SHARED_BY_AGENTS = "openclaw-configure";
const MOST_NAMED = 10;

export type OwnerMap = ReadonlyMap<string, Subject>;

/** Parses `FROM=TO`; splits at the last "=", since agent ids have none. Throws `invalid_input`. */
export function parseOwners(given: readonly string[]): OwnerMap {
  const owners = new Map<string, Subject>();
  for (const text of given) {
    const at = text.lastIndexOf("=");
    const [from, to] = [text.slice(0, at), text.slice(at + 1).trim()];
    if (at < 1 || to === "") throw invalidField("--map", "must be FROM=TO, such as openclaw-configure=main");
    if (owners.has(from)) throw invalidField("--map", `maps ${harmlessLine(from)} twice`);
    owners.set(from, requireSubject(to));
  }
  return owners;
}

/** Throws `invalid_input` for a caller without rows, which must be a typing error. */
export function requireKnown(owners: OwnerMap, callers: ReadonlySet<string>): void {
  const unknown = [...owners.keys()].find((from) => !callers.has(from));
  if (unknown === undefined) return;
  const named = [...callers].toSorted().slice(0, MOST_NAMED).map(harmlessLine).join(", ");
  const there = callers.size > MOST_NAMED ? `${named} and ${callers.size - MOST_NAMED} more` : named;
  const message = `--map names ${harmlessLine(unknown)}, which has no row in this database. Its callers: ${there || "none"}.`;
  throw new HelmdeckError("invalid_input", message);
}

/** Under their own names; the caller that all agents share becomes the importing subject. */
export function ownerOf(owners: OwnerMap, from: string, importing: Subject): Subject {
  return owners.get(from) ?? (from === SHARED_BY_AGENTS ? importing : from);
}
