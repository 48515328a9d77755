/** Parts that pages share: headings, empty states, notices, pagers. */
import { type Html, html } from "../html.ts";
import type { Params } from "../links.ts";
import type { PageContext } from "../page.ts";

export type Tone = "ok" | "warn" | "bad" | "soft";

export function heading(title: string, about?: Html | string, action?: Html): Html {
  return html`<div class="head"><div><h1>${title}</h1>${about && html`<p class="muted">${about}</p>`}</div>${action}</div>`;
}

export function empty(title: string, ...lines: readonly (Html | string)[]): Html {
  return html`<div class="card empty"><p><strong>${title}</strong></p>${lines.map((text) => html`<p class="muted">${text}</p>`)}</div>`;
}

/** Has the role `alert` for tone "bad", else `status`. */
export function notice(tone: Tone, text: Html | string): Html {
  return html`<div class="notice ${tone}" role="${tone === "bad" ? "alert" : "status"}"><p>${text}</p></div>`;
}

export function chip(text: string, tone?: Tone): Html {
  return html`<span class="chip ${tone ?? ""}">${text}</span>`;
}

/** Links to the next (older) page and back to the first. */
export function pager(
  { links }: PageContext,
  path: string,
  params: Params,
  next: string | undefined,
): Html | undefined {
  const isFirst = params.cursor === undefined;
  if (isFirst && next === undefined) return undefined;
  return html`<nav class="pages" aria-label="Pages">${
    isFirst
      ? undefined
      : html`<a class="button" href="${links.to(path, { ...params, cursor: undefined })}">First page</a>`
  }${next && html`<a class="button" href="${links.to(path, { ...params, cursor: next })}" rel="next">Next page</a>`}</nav>`;
}

export function hiddenFields(fields: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
}
