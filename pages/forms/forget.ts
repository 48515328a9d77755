/** Forgets one fact or a group of entries, after a preview. To forget everything, a person must type a phrase. */

import type { Forgotten, KnownImport } from "../../app/memory.ts";
import {
  coveredText,
  forgetNotes,
  forgetPreview,
  importCounts,
  newerText,
  similarKeysText,
} from "../../app/presenters/forget-texts.ts";
import type { NotesCount } from "../../app/traces/find-traces.ts";
import { isAuditCategory } from "../../engine/audit/audit-keys.ts";
import type { HelmdeckError } from "../../engine/errors.ts";
import { parseForgetScope } from "../../engine/facts/forget-scope.ts";
import type { Done } from "../components/changes.ts";
import { heading, notice } from "../components/parts.ts";
import { type Html, html, line, shortLine } from "../html.ts";
import { type Answer, type Fields, type Page, type PageContext, param, requireForms } from "../page.ts";
import {
  actions,
  cancel,
  factAt,
  form,
  question,
  refusalNotice,
  requireRefusal,
  revisionOf,
  stepButton,
  text,
} from "./form-parts.ts";

/** The phrase to type before everything is forgotten. */
const TYPED = "forget all";

const WIDE = [
  { scope: "tools", name: "All records of tool calls" },
  { scope: "packs", name: "All records of pack runs" },
  { scope: "pipelines", name: "All records of pipeline runs" },
  { scope: "all", name: "Everything: all facts and all records" },
] as const;

/** The preview for a given key or import; otherwise the choice of a group. */
export async function forgetForm(context: PageContext): Promise<Answer> {
  requireForms(context);
  const [key, id] = [param(context, "key"), param(context, "import")];
  if (key !== undefined) return preview(context, await scopeOf(context, key));
  return id === undefined ? choice(context) : chosen(context, `import:${id}`);
}

/** The path if another fact is called `key:<key>` as a whole. */
async function scopeOf(context: PageContext, key: string): Promise<string> {
  const scope = `key:${key}`;
  const isTaken = (await factAt(context, scope)) !== undefined;
  return (isTaken && (await factAt(context, key))?.path) || scope;
}

export async function submitForget(context: PageContext, fields: Fields): Promise<Answer> {
  requireForms(context);
  return chosen(context, text(fields, "scope"), text(fields, "step") === "confirm" ? fields : undefined);
}

/** `confirming`: the preview's fields; absent before it. An invalid scope leads back to the choice. */
async function chosen(context: PageContext, scope: string, confirming?: Fields): Promise<Answer> {
  try {
    return await (confirming === undefined
      ? preview(context, scope)
      : forgetConfirmed(context, scope, confirming));
  } catch (error) {
    return choice(context, requireRefusal(error), scope);
  }
}

async function forgetConfirmed(context: PageContext, scope: string, fields: Fields): Promise<Answer> {
  const { memory, subject } = context;
  const upTo = revisionOf(fields);
  if (upTo === undefined) return preview(context, scope, "Nothing was forgotten. Check the preview.");
  if (scope === "all" && text(fields, "typed").trim() !== TYPED) {
    return preview(
      context,
      scope,
      `Nothing was forgotten. To forget everything, type ${TYPED} into the field.`,
    );
  }
  const notes = await context.viewer.notesHolding?.(scope);
  const forgotten = await memory.forget(subject, { scope, upTo }, requireForms(context).writer);
  const after = afterForget(context, forgotten, notes);
  return typeof after === "string" ? { location: after } : after;
}

/** An address, or the page that names what stays. `notes`: those of OpenClaw that hold it, too. */
export function afterForget(context: PageContext, forgotten: Forgotten, notes?: NotesCount): string | Page {
  const newer = newerText(forgotten);
  if (newer !== undefined) return withNewer(context, forgotten, newer);
  const done = doneWith(forgotten);
  return context.links.to("/facts", { done, notes: notes && notesParameter(notes) });
}

function notesParameter({ count, isComplete }: NotesCount): string | undefined {
  if (isComplete) return count === 0 ? undefined : String(count);
  return `${count}-or-more`;
}

/** Not an address, because it would name keys. To load this page again forgets nothing else. */
function withNewer({ links }: PageContext, forgotten: Forgotten, newer: string): Page {
  const { deleted, former, erased } = forgotten;
  const title = deleted + (former ?? 0) === 0 ? "Nothing was forgotten" : `Forgot ${coveredText(forgotten)}`;
  const pending = "The encrypted bytes are erased from the database file shortly.";
  const body = html`${heading(title)}${notice("warn", newer)}${erased === "pending" && html`<p>${pending}</p>`}<p><a href="${links.to("/facts")}">Back to the facts</a></p>`;
  return { title, section: "facts", body };
}

function doneWith({ erased, deleted, former = 0, nameStays }: Forgotten): Done {
  if (deleted + former === 0) return "nothing";
  if (nameStays) return "everything";
  if (erased === "pending") return "pending";
  return erased === "complete" ? "forgotten" : "deleted";
}

async function preview(context: PageContext, scope: string, refusal?: string): Promise<Page> {
  const { memory, subject, links } = context;
  const forgotten = await memory.forget(subject, { scope, dryRun: true });
  const { deleted, former = 0 } = forgotten;
  const [meant] = parseForgetScope(scope);
  const title = `Preview: Forget ${shortLine(meant.kind === "key" ? meant.key : scope)}`;
  const above = refusal === undefined ? undefined : notice("bad", refusal);
  const status = refusal === undefined ? 200 : 409;
  if (deleted + former === 0) {
    const near = similarKeysText(forgotten) ?? "Keys and names must match exactly, including case.";
    const none = html`${heading(title)}${above}<p>There is nothing to forget. ${line(near)}</p><p><a href="${links.to("/facts")}">Back to the facts</a></p>`;
    return { title, section: "facts", body: none, status };
  }
  const shown = html`<div class="notice warn"><p>This deletes <strong>${coveredText(forgotten)}</strong> for good, with its history. This cannot be undone.</p>${forgetNotes(forgotten).map((note) => html`<p>${note}</p>`)}</div>
${await firstOf(context, scope, deleted)}`;
  const asked = question(context, {
    ...{ title, about: "Nothing is deleted yet.", problem: above, shown },
    ...{ action: links.to("/forget"), back: links.to("/facts") },
    carried: { scope, revision: `${forgotten.revision ?? ""}` },
    extra: scope === "all" && typedField(),
    buttons: [stepButton("confirm", "Forget it for good", "danger")],
  });
  return { ...asked, status };
}

function typedField(): Html {
  return html`<div class="field narrow"><label for="typed">To forget everything, type <code>${TYPED}</code></label><input type="text" id="typed" name="typed" autocomplete="off" required></div>`;
}

/** Keys and first words of the newest entries. */
async function firstOf(
  { memory, subject }: PageContext,
  scope: string,
  deleted: number,
): Promise<Html | undefined> {
  const lines = await forgetPreview(memory, subject, scope);
  if (lines.length === 0) return undefined;
  return html`<h2>${deleted === 1 ? "To be deleted" : "The newest of them"}</h2><ul class="card rows">${lines.map((text) => html`<li>${text}</li>`)}</ul>`;
}

async function choice(context: PageContext, error?: HelmdeckError, marked = ""): Promise<Page> {
  const { memory, subject, links } = context;
  const [{ categories }, imports] = [await memory.myMemory(subject), await memory.imports(subject)];
  const ofFacts = categories.filter(({ name }) => !isAuditCategory(name));
  const title = "Forget…";
  const about = html`Choose a group of entries. To forget one fact, <a href="${links.to("/facts")}">open it</a> first.`;
  const option = (scope: string, name: Html | string) =>
    html`<label><input type="radio" name="scope" value="${scope}" required${scope === marked && html` checked`}> ${name}</label>`;
  const body = html`${heading(title, about)}${refusalNotice(error)}
${form(
  requireForms(context),
  links.to("/forget"),
  html`<fieldset><legend>What to forget</legend>${ofFacts.map(({ name, count }) => option(`category:${name}`, html`Category ${line(name)} <span class="muted">(${count})</span>`))}${imports.map((one) => option(`import:${one.id}`, importName(one)))}${WIDE.map(({ scope, name }) => option(scope, name))}</fieldset>${actions(stepButton("preview", "Preview", "primary"), cancel(links.to("/facts")))}`,
)}`;
  return { title, section: "facts", body, status: error === undefined ? 200 : 400 };
}

function importName(known: KnownImport): Html {
  return html`Import ${line(known.id)} <span class="muted">(${importCounts(known)})</span>`;
}
