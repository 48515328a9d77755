/**
 * Forget scopes: one parser and one filter for every surface.
 *
 * A scope often comes from a model, which may be careless or manipulated. So an empty scope deletes nothing; a key is exact (no
 * prefix, no wildcard, case-sensitive) and matches a fact only; `pack:a` never matches `a/b` or `ab`; and an ambiguous text
 * deletes nothing.
 */
import { AUDIT_CATEGORIES, auditKeyPrefix } from "../audit/audit-keys.ts";
import { type HelmdeckError, invalidField } from "../errors.ts";
import { type EntryName, entriesNamedBy } from "../projections/naming.ts";
import { isMyMemoryPath, pathOf } from "../projections/paths.ts";
import type { EntryFilter } from "../store/memory-store.ts";
import type { Namespace } from "../store/namespace.ts";
import { checkCategory, checkKey, keyToLookUp } from "./facts-policy.ts";
import { harmlessLine } from "./hostile-text.ts";
import { checkImportId, importTag } from "./import-tag.ts";

export type ForgetScope =
  /** The subject's facts and audit rows. */
  | { readonly kind: "all" }
  /** Everything the subject has, including caches, notes and its sessions. */
  | { readonly kind: "everything" }
  /** Records of one kind. `tools` does not include `packs`. */
  | { readonly kind: "packs" | "pipelines" | "tools" }
  | { readonly kind: "pack" | "pipeline" | "tool"; readonly id: string }
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "category"; readonly name: string }
  /**
   * Facts of one import that nobody has rewritten since, including those in histories. For pack imports, also their runs and
   * notes.
   */
  | { readonly kind: "import"; readonly id: string }
  /** One document of the corpus. */
  | {
      readonly kind: "document";
      readonly origin: "fact" | "audit";
      readonly category: string;
      readonly key: string;
    };

/** The possible readings of a text; at least one. */
export type ForgetReadings = readonly [ForgetScope, ...ForgetScope[]];

export const FORGET_SCOPES =
  "a fact's exact key, the path, docid or citation of a search hit, key:<exact key>, category:<name>, import:<id>, pack:<id>," +
  " pipeline:<id>, tool:<name>, packs, pipelines, tools, all (facts and records of runs), everything";

/**
 * The possible scopes of a text. A scope word, another prefix than `key:` or a path has one reading; for any other text
 * {@link settleScope} chooses. Throws `invalid_input` with the list of scopes.
 */
export function parseForgetScope(scope: unknown): ForgetReadings {
  const text = typeof scope === "string" ? scope.trim() : "";
  if (text === "") throw refuse("is missing");
  const named = parseWord(text) ?? parseNamed(text);
  if (named === undefined) return parseEntries(text);
  return named.kind === "key" && keyToLookUp(text) === text ? [named, { kind: "key", key: text }] : [named];
}

/**
 * Chooses the scope; `exists` says for each reading whether it names an entry. A text that names nothing counts as an exact key.
 * Throws `invalid_input` when it names several entries.
 */
export function settleScope(readings: ForgetReadings, exists: readonly boolean[]): ForgetScope {
  const [meant = readings[0], ...others] = readings.filter((_, index) => exists[index]);
  if (others.length > 0) throw refuseAmbiguous([meant, ...others]);
  return meant;
}

/** Whether the scope selects a kind of entries rather than one named entry. */
export function isWideScope({ kind }: ForgetScope): boolean {
  return WIDE[kind];
}

const WIDE = {
  ...{ all: true, everything: true, category: true, import: true, packs: true, pipelines: true, tools: true },
  ...{ pack: true, pipeline: true, tool: true, key: false, document: false },
} satisfies Record<ForgetScope["kind"], boolean>;

/** The filter for the entries of a scope; a dry run counts them, a real run deletes them. */
export function filterOf(scope: ForgetScope, namespace: Namespace): EntryFilter {
  switch (scope.kind) {
    case "all":
      return { namespace, origins: ["fact", "audit"] };
    case "everything":
      return { namespace, includeSessions: true };
    case "packs":
    case "pipelines":
    case "tools":
      return { namespace, origins: ["audit"], category: AUDIT_CATEGORIES[KIND_OF[scope.kind]] };
    case "pack":
    case "pipeline":
    case "tool":
      return {
        namespace,
        origins: ["audit"],
        prefix: auditKeyPrefix(AUDIT_CATEGORIES[scope.kind], scope.id),
      };
    case "key":
      return { namespace, origins: ["fact"], key: scope.key };
    case "category":
      return { namespace, origins: ["fact"], category: scope.name };
    case "import":
      return { namespace, origins: ["fact", "audit", "pack"], tag: importTag(scope.id) };
    case "document":
      return { namespace, origins: [scope.origin], category: scope.category, key: scope.key };
  }
}

const KIND_OF = { packs: "pack", pipelines: "pipeline", tools: "tool" } as const;

function parseWord(text: string): ForgetScope | undefined {
  switch (text) {
    case "all":
    case "everything":
    case "packs":
    case "pipelines":
    case "tools":
      return { kind: text };
    default:
      return undefined;
  }
}

function parseNamed(text: string): ForgetScope | undefined {
  const colon = text.indexOf(":");
  if (colon === -1) return undefined;
  const name = text.slice(colon + 1).trim();
  const kind = text.slice(0, colon);
  switch (kind) {
    case "pack":
    case "pipeline":
    case "tool":
      return { kind, id: requireName(kind, name) };
    case "key":
      return { kind: "key", key: keyToLookUp(name) ?? checkKey(requireName("key", name)) };
    case "category":
      return { kind: "category", name: checkCategory(requireName("category", name)) };
    case "import":
      return { kind, id: checkImportId(requireName(kind, name)) };
    default:
      return undefined;
  }
}

function requireName(kind: string, name: string): string {
  if (name === "") throw refuse(`"${kind}:" has no name`);
  return name;
}

function parseEntries(text: string): ForgetReadings {
  if (isMyMemoryPath(text)) throw refuse("is an overview of the memory, not an entry");
  const [first, ...others] = entriesNamedBy(text).map(scopeOf);
  if (first === undefined) throw refuseUnknown(text);
  return [first, ...others];
}

function scopeOf(name: EntryName): ForgetScope {
  return name.category === undefined ? { kind: "key", key: name.key } : { kind: "document", ...name };
}

function refuseAmbiguous(scopes: readonly ForgetScope[]): HelmdeckError {
  const spellings = scopes.map((scope) => harmlessLine(spellingOf(scope, scopes)));
  return refuse(`matches ${scopes.length} entries: give ${spellings.join(" or ")}`);
}

/** A spelling that matches only this entry. */
function spellingOf(scope: ForgetScope, scopes: readonly ForgetScope[]): string {
  if (scope.kind === "key") {
    const isTaken = scopes.some((other) => other.kind === "key" && other.key === `key:${scope.key}`);
    return isTaken ? `${pathOf("CATEGORY", scope.key)} with its category` : `key:${scope.key}`;
  }
  if (scope.kind !== "document") return scope.kind;
  const path = pathOf(scope.category, scope.key);
  return scope.origin === "fact" ? `key:${scope.key} (${path})` : path;
}

function refuseUnknown(text: string): never {
  const shown = harmlessLine(text);
  throw refuse(`"${shown.length > 60 ? `${shown.slice(0, 60)}…` : shown}" is unknown`);
}

function refuse(problem: string): HelmdeckError {
  return invalidField("scope", `${problem}; nothing was deleted. Use one of: ${FORGET_SCOPES}`);
}
