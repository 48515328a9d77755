/**
 * What can be forgotten: the scopes, read by one parser and turned into one filter, the same for every surface.
 *
 * A scope often comes from a model, which may be careless or misled. So an empty or unknown scope deletes nothing, a key
 * is exact (no prefix, no wildcard, case matters) and touches a fact only, and `pack:a` never reaches `a/b` or `ab`.
 */
import { auditKeyPrefix } from "../audit/keys.ts";
import { HelmdeckError } from "../errors.ts";
import type { EntryFilter } from "../memory/contract.ts";
import type { Namespace } from "../memory/namespace.ts";
import { isMyMemoryPath, parseDocid, parsePath, withoutLines } from "../projections/paths.ts";
import { harmlessLine } from "./hostile-text.ts";
import { checkCategory, checkKey } from "./policy.ts";

export type ForgetScope =
  /** Facts and audit rows of the subject. */
  | { readonly kind: "all" }
  /** Whatever the subject has: caches, notes and its sessions too. */
  | { readonly kind: "everything" }
  | { readonly kind: "packs" }
  | { readonly kind: "pipelines" }
  | { readonly kind: "pack"; readonly id: string }
  | { readonly kind: "pipeline"; readonly id: string }
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "category"; readonly name: string }
  /** One document of the corpus. */
  | {
      readonly kind: "document";
      readonly origin: "fact" | "audit";
      readonly category: string;
      readonly key: string;
    };

export const FORGET_SCOPES =
  "all, packs, pipelines, pack:<id>, pipeline:<id>, key:<exact key>, category:<name>, everything, or the path of a search hit";

/** The scope that a text names, or `invalid_input` listing those there are. */
export function parseForgetScope(scope: unknown): ForgetScope {
  const text = typeof scope === "string" ? scope.trim() : "";
  if (text === "") throw refuse("is missing");
  return parseWord(text) ?? parseNamed(text) ?? parseDocument(text) ?? refuseUnknown(text);
}

/** Exactly the entries of a scope: what a dry run counts and a real run deletes. */
export function filterOf(scope: ForgetScope, namespace: Namespace): EntryFilter {
  switch (scope.kind) {
    case "all":
      return { namespace, origins: ["fact", "audit"] };
    case "everything":
      return { namespace, includeSessions: true };
    case "packs":
      return { namespace, origins: ["audit"], category: "pack_history" };
    case "pipelines":
      return { namespace, origins: ["audit"], category: "pipeline_history" };
    case "pack":
      return { namespace, origins: ["audit"], prefix: auditKeyPrefix("pack_history", scope.id) };
    case "pipeline":
      return { namespace, origins: ["audit"], prefix: auditKeyPrefix("pipeline_history", scope.id) };
    case "key":
      return { namespace, origins: ["fact"], key: scope.key };
    case "category":
      return { namespace, origins: ["fact"], category: scope.name };
    case "document":
      return { namespace, origins: [scope.origin], category: scope.category, key: scope.key };
  }
}

function parseWord(text: string): ForgetScope | undefined {
  switch (text) {
    case "all":
    case "everything":
    case "packs":
    case "pipelines":
      return { kind: text };
    default:
      return undefined;
  }
}

function parseNamed(text: string): ForgetScope | undefined {
  const colon = text.indexOf(":");
  if (colon === -1) return undefined;
  const name = text.slice(colon + 1).trim();
  switch (text.slice(0, colon)) {
    case "pack":
      return { kind: "pack", id: requireName("pack", name) };
    case "pipeline":
      return { kind: "pipeline", id: requireName("pipeline", name) };
    case "key":
      return { kind: "key", key: checkKey(requireName("key", name)) };
    case "category":
      return { kind: "category", name: checkCategory(requireName("category", name)) };
    default:
      return undefined;
  }
}

function requireName(kind: string, name: string): string {
  if (name === "") throw refuse(`"${kind}:" names nothing`);
  return name;
}

/** What begins like a path is never taken for a docid, so that one text names one entry. */
function parseDocument(text: string): ForgetScope | undefined {
  if (isMyMemoryPath(text)) throw refuse("is a view of all there is, not an entry");
  const document = text.startsWith("helmdeck/") ? parsePath(withoutLines(text)) : parseDocid(text);
  return document === undefined ? undefined : { kind: "document", ...document };
}

function refuseUnknown(text: string): never {
  const shown = harmlessLine(text);
  throw refuse(`"${shown.length > 60 ? `${shown.slice(0, 60)}…` : shown}" is unknown`);
}

function refuse(problem: string): HelmdeckError {
  return new HelmdeckError(
    "invalid_input",
    `scope ${problem}; nothing was deleted. Give one of: ${FORGET_SCOPES}.`,
    {
      details: { field: "scope" },
    },
  );
}
