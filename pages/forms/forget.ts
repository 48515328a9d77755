/** Forgets one fact or a group of entries, after a preview. To forget everything, a person must type a phrase. */
import {
  defined,
  entries,
  type FactsQuery,
  type Forgotten,
  forgetNotes,
  forgetPreview,
  type HelmdeckError,
  importCounts,
  isAuditCategory,
  type KnownImport,
  type RunKind,
  similarKeysText,
} from "../../app/index.ts";
import { heading, notice } from "../components/parts.ts";
import { type Html, html, line, shortLine } from "../html.ts";
import { type Answer, type Fields, type Page, type PageContext, param, requireForms } from "../page.ts";
import type { Done } from "../views/done.ts";
import {
  actions,
  cancel,
  carried,
  form,
  refusalNotice,
  requireRefusal,
  stepButton,
  text,
} from "./form-parts.ts";
import { factAt, versionOf } from "./seen.ts";

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
  if (key !== undefined) return preview(context, `key:${key}`);
  return id === undefined ? choice(context) : chosen(context, `import:${id}`);
}

export async function submitForget(context: PageContext, fields: Fields): Promise<Answer> {
  requireForms(context);
  return chosen(context, text(fields, "scope"), text(fields, "step") === "confirm" ? fields : undefined);
}

/** `confirming`: the preview's fields; absent before it. An invalid scope leads back to the choice. */
async function chosen(context: PageContext, scope: string, confirming?: Fields): Promise<Answer> {
  try {
    return await (confirming === undefined ? preview(context, scope) : confirmed(context, scope, confirming));
  } catch (error) {
    return choice(context, requireRefusal(error), scope);
  }
}

async function confirmed(context: PageContext, scope: string, fields: Fields): Promise<Answer> {
  const { memory, subject, links } = context;
  if (scope === "all" && text(fields, "typed").trim() !== TYPED) {
    return preview(
      context,
      scope,
      `Nothing was forgotten. To forget everything, type ${TYPED} into the field.`,
    );
  }
  const foreseen = await memory.forget(subject, { scope, dryRun: true });
  if (foreseen.deleted + (foreseen.former ?? 0) === 0)
    return { location: links.to("/facts", { done: "nothing" }) };
  if ((await coveredNow(context, scope, foreseen)) !== text(fields, "covers")) {
    return preview(
      context,
      scope,
      "Nothing was forgotten, because the selection has changed. Check the new preview.",
    );
  }
  return { location: links.to("/facts", { done: doneWith(await memory.forget(subject, { scope })) }) };
}

function doneWith({ erased, deleted, former = 0 }: Forgotten): Done {
  if (deleted + former === 0) return "nothing";
  if (erased === "pending") return "pending";
  return erased === "complete" ? "forgotten" : "deleted";
}

async function preview(context: PageContext, scope: string, refusal?: string): Promise<Page> {
  const { memory, subject, links } = context;
  const forgotten = await memory.forget(subject, { scope, dryRun: true });
  const { deleted, former = 0 } = forgotten;
  const title = `Preview: Forget ${shortLine(scope.replace(/^key:/, ""))}`;
  const above = refusal === undefined ? undefined : notice("bad", refusal);
  const status = refusal === undefined ? 200 : 409;
  if (deleted + former === 0) {
    const near = similarKeysText(forgotten) ?? "Keys and names must match exactly, including case.";
    const none = html`${heading(title)}${above}<p>There is nothing to forget. ${line(near)}</p><p><a href="${links.to("/facts")}">Back to the facts</a></p>`;
    return { title, section: "facts", body: none, status };
  }
  const body = html`${heading(title, "Nothing is deleted yet.")}${above}
<div class="notice warn"><p>This deletes <strong>${entries(deleted, former)}</strong> for good, with its history. This cannot be undone.</p>${forgetNotes(forgotten).map((note) => html`<p>${note}</p>`)}</div>
${await firstOf(context, scope, deleted)}
${form(
  requireForms(context),
  links.to("/forget"),
  html`${carried({ scope, covers: await coveredNow(context, scope, forgotten) })}${scope === "all" && typedField()}${actions(stepButton("confirm", "Forget it for good", "danger"), cancel(links.to("/facts")))}`,
)}`;
  return { title, section: "facts", body, status };
}

/**
 * A fingerprint of what a scope covers now: the count and the newest entry. Any newly stored entry becomes the newest, so
 * nothing is deleted that the preview did not show.
 */
async function coveredNow(
  context: PageContext,
  scope: string,
  { deleted, former = 0 }: Forgotten,
): Promise<string> {
  const { memory, subject } = context;
  if (scope.startsWith("key:"))
    return `${deleted}+${former} ${versionOf([await factAt(context, scope.slice("key:".length))])}`;
  const filter = factsOf(scope);
  const kind = RUNS.get(scope);
  const facts = kind === undefined ? await memory.listFacts(subject, { limit: 1, ...filter }) : undefined;
  const runs =
    filter === undefined ? await memory.listRuns(subject, { limit: 1, ...defined({ kind }) }) : undefined;
  return [`${deleted}+${former}`, versionOf(facts?.facts ?? []), runs?.runs[0]?.key ?? ""].join(" ");
}

/** Undefined unless the scope covers a selection of facts only. */
function factsOf(scope: string): Pick<FactsQuery, "category" | "tag"> | undefined {
  if (scope.startsWith("category:")) return { category: scope.slice("category:".length) };
  return scope.startsWith("import:") ? { tag: scope } : undefined;
}

const RUNS: ReadonlyMap<string, RunKind> = new Map([
  ["tools", "tool"],
  ["packs", "pack"],
  ["pipelines", "pipeline"],
]);

function typedField(): Html {
  return html`<div class="field narrow"><label for="typed">To forget everything, type <code>${TYPED}</code></label><input type="text" id="typed" name="typed" autocomplete="off" required></div>`;
}

/** Keys and first words of the newest entries; a fact that cannot be opened is listed by key only. */
async function firstOf(
  { memory, subject }: PageContext,
  scope: string,
  deleted: number,
): Promise<Html | undefined> {
  const lines = await forgetPreview(memory, subject, scope).catch(() => []);
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
