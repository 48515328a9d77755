/** What a request is answered with, and what makes the answer. */
import { HelmdeckError, type Memory } from "../app/index.ts";
import type { Html } from "./html.ts";
import type { Links } from "./links.ts";
import type { Changes, Viewer } from "./viewer.ts";

export type Section =
  | "facts"
  | "timeline"
  | "ending"
  | "growth"
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

/** After a change: another address, by GET. */
interface Redirect {
  readonly location: string;
}

export type Answer = Page | Redirect;

/** One request of somebody who may look. */
export interface PageContext {
  readonly viewer: Viewer;
  readonly memory: Memory;
  readonly subject: string;
  readonly links: Links;
  readonly now: number;
  readonly query: URLSearchParams;
}

export type View = (context: PageContext) => Promise<Answer>;
/** What was typed; line ends are "\n". */
export type Fields = ReadonlyMap<string, string>;
export type Submission = (context: PageContext, fields: Fields) => Promise<Answer>;

export type Forms = Extract<Changes, { readonly kind: "forms" }>;

/** Throws `forbidden` where nothing can be changed from a page. */
export function requireForms({ viewer }: PageContext): Forms {
  if (viewer.sees !== "values" || viewer.changes.kind !== "forms") {
    throw new HelmdeckError(
      "forbidden",
      "Nothing can be changed from this page; a fact's page shows the commands.",
    );
  }
  return viewer.changes;
}

/** A parameter that is there and not empty. */
export function param({ query }: PageContext, name: string): string | undefined {
  return query.get(name) || undefined;
}
