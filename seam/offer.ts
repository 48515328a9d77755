/** Finds where a candidate would be saved: returns a copy with its target. Nothing is written here. */
import { DEFAULT_CATEGORY, isReservedCategory, namespaceOf, type Subject } from "../engine/reader.ts";
import { digestOf, projectKey } from "./project-keys.ts";
import type { SaveOffer, SaveTarget } from "./seam-contract.ts";

/** Dev loops' names for kinds of entries, with the category from which recall reads them. */
const CATEGORY_OF_KIND: Readonly<Record<string, string>> = {
  always: "always",
  convention: "always",
  conventions: "always",
  preference: "always",
  index: "index",
  decision: "decisions",
  decisions: "decisions",
  issue: "known_issues",
  known_issue: "known_issues",
  known_issues: "known_issues",
  gotcha: "known_issues",
  question: "open_questions",
  open_question: "open_questions",
  open_questions: "open_questions",
  wiki_style: "wiki_style",
};

interface Here {
  readonly project: string;
  readonly subject: Subject;
  readonly phase?: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Empty for an empty candidate. A value that is not an object counts as a candidate's body. */
export function offersFor(candidate: unknown, here: Here): readonly SaveOffer[] {
  if (isEmpty(candidate)) return [];
  const given: Fields = isFields(candidate) ? candidate : { body: candidate };
  const { project = here.project } = given;
  return [
    {
      ...given,
      project,
      ...(here.phase !== undefined && given.phase === undefined && { phase: here.phase }),
      target: targetFor(given, here),
    },
  ];
}

function targetFor({ kind, slug, body }: Fields, { project, subject }: Here): SaveTarget {
  const category = categoryOf(kind);
  const text = textOf(body);
  const key = projectKey(project, category, nameOf(slug) ?? digestOf(text ?? ""));
  return {
    namespace: namespaceOf(subject),
    key,
    category,
    ...(text !== undefined && { arguments: { key, category, value: text } }),
  };
}

/** A kind that no phase recalls becomes a category of the same name, which search finds. */
function categoryOf(kind: unknown): string {
  if (typeof kind !== "string") return DEFAULT_CATEGORY;
  const name = kind
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
  const known = Object.hasOwn(CATEGORY_OF_KIND, name) ? CATEGORY_OF_KIND[name] : undefined;
  if (known !== undefined) return known;
  return /^[a-z0-9][a-z0-9_.]{0,63}$/.test(name) && !isReservedCategory(name) ? name : DEFAULT_CATEGORY;
}

function nameOf(slug: unknown): string | undefined {
  return typeof slug === "string" && slug.trim() !== "" ? slug.trim().toWellFormed() : undefined;
}

function textOf(body: unknown): string | undefined {
  const text = typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body);
  return text === undefined || text.trim() === "" ? undefined : text;
}

/** Empty as in dynamic languages: null, "", 0, false, an empty object or list. */
function isEmpty(candidate: unknown): boolean {
  return !candidate || (typeof candidate === "object" && Object.keys(candidate).length === 0);
}

function isFields(candidate: unknown): candidate is Fields {
  return typeof candidate === "object" && candidate !== null && !Array.isArray(candidate);
}
