/** A page, and the context of the request that it answers. */

import type { Memory } from "../app/memory.ts";
import { HelmdeckError } from "../engine/errors.ts";
import type { Html } from "./html.ts";
import type { Links } from "./links.ts";
import type { Changes, Viewer } from "./viewer.ts";

export type Section =
  | "facts"
  | "timeline"
  | "ending"
  | "tidy"
  | "growth"
  | "unasked"
  | "health"
  | "callers"
  | "forget"
  | "remember";

export interface Page {
  readonly title: string;
  readonly section?: Section;
  readonly body: Html;
  /** Default 200. */
  readonly status?: 200 | 400 | 401 | 403 | 404 | 405 | 409 | 429 | 500 | 503 | 504;
}

/** After a change: a redirect to another address by GET. */
interface Redirect {
  readonly location: string;
}

export type Answer = Page | Redirect;

/** One request of an admitted viewer. */
export interface PageContext {
  readonly viewer: Viewer;
  readonly memory: Memory;
  readonly subject: string;
  readonly links: Links;
  readonly now: number;
  readonly query: URLSearchParams;
}

export type View = (context: PageContext) => Promise<Answer>;
/** The form's fields; line ends are "\n". */
export type Fields = ReadonlyMap<string, string>;
export type Submission = (context: PageContext, fields: Fields) => Promise<Answer>;

export type Forms = Extract<Changes, { readonly kind: "forms" }>;

/** Throws `forbidden` if the pages are read-only. */
export function requireForms({ viewer }: PageContext): Forms {
  if (viewer.sees !== "values" || viewer.changes.kind !== "forms") {
    throw new HelmdeckError(
      "forbidden",
      "These pages are read-only; a fact's page shows the commands that change it.",
    );
  }
  return viewer.changes;
}

/** A parameter that is present and not empty. */
export function param({ query }: PageContext, name: string): string | undefined {
  return query.get(name) || undefined;
}
