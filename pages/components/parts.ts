/** Parts that pages share: headings, empty states, notices, pagers. */

import { NOTHING_STORED } from "../../app/presenters/words.ts";
import { isHelmdeckError } from "../../engine/errors.ts";
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

/** A list whose facts can be selected, and what can be done with those that are. `path` and `params`: of its page. */
export function selectable(
  { viewer: { changes }, links }: PageContext,
  path: string,
  params: Params,
  list: Html,
): Html {
  if (changes.kind !== "forms") return list;
  return html`<form method="post" action="${links.to("/selected")}">${hiddenFields({ form_token: changes.formToken })}
<p><a href="${links.to(path, { ...params, select: "all" })}">Select all on this page</a></p>${list}
<fieldset class="card pad selection"><legend class="visually-hidden">With the selected facts</legend><span>Selected facts:</span>
<label>Category <input type="text" name="category" autocomplete="off" spellcheck="false"></label><button name="step" value="categorise">Put into category…</button>
<button name="step" value="renew">Renew…</button><button name="step" value="forget">Forget…</button></fieldset></form>`;
}

export function hiddenFields(fields: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
}

/** The empty state: says how to store something. */
export function nothingStored({ viewer: { changes }, subject }: PageContext, why = NOTHING_STORED): Html {
  if (changes.kind === "forms" && changes.signOutPath === undefined) return nothingOfNobody(subject);
  const byHand =
    changes.kind === "forms"
      ? "Or press “Remember something” above."
      : html`Or on a command line: <code>${changes.program} store KEY "the text"${changes.options === "" ? "" : ` ${changes.options}`}</code>`;
  return empty(why, "Tell your agent: “Remember that we deploy through Konflux, never on Fridays.”", byHand);
}

/** Without sign-in, tells a person how to reach their agent's memory. */
function nothingOfNobody(subject: string): Html {
  return empty(
    "Nothing is stored here.",
    `This server has no sign-in, so this is the memory of ${subject}, not of your agent.`,
    html`To see your agent's memory, start the server with a secret (<code>HELMDECK_JWT_SECRET_FILE</code>), and sign in with a token for it: <code>helmdeck-memory token --subject main</code>`,
  );
}

/**
 * If a memory's source does not support something, such as history, the page shows a sentence in that place.
 *
 * The answer, or a sentence that says why there is none.
 */
export async function answerOrReason<Answer>(asked: Promise<Answer>): Promise<Answer | string> {
  try {
    return await asked;
  } catch (error) {
    if (isHelmdeckError(error, "method_not_allowed")) return error.message;
    throw error;
  }
}

const NAMES = { key: "Key", value: "Value", tags: "Tags" } as const;

/**
 * The text of a failed form, shown so that it can be copied and is not lost.
 *
 * Undefined if no text was typed. Other fields, such as a token, are not shown.
 */
export function typedText(fields: Iterable<readonly [string, string]>): Html | undefined {
  const typed = new Map(fields);
  if (!typed.get("value")) return undefined;
  return html`<h2>What you typed</h2><p class="muted">It is stored nowhere. Copy what you need before you leave this page.</p>
${Object.entries(NAMES).map(([field, name]) => typedField(field, name, typed.get(field)))}`;
}

function typedField(field: string, name: string, text = ""): Html | undefined {
  if (text === "") return undefined;
  const rows = Math.min(10, text.split("\n").length);
  return html`<div class="field"><label for="typed-${field}">${name}</label><textarea id="typed-${field}" rows="${rows}" readonly>
${text}</textarea></div>`;
}
