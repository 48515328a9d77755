/** Facts that expire within 14 days, pinned ones first, then soonest first, each with a way to keep it. */

import type { FactView } from "../../app/memory.ts";
import { defined } from "../../engine/defined.ts";
import { copyable, doneNotice, keepCommand, renewManyCommand } from "../components/changes.ts";
import { selectableRow, unreadableRows } from "../components/fact-row.ts";
import { empty, heading, pager, selectable } from "../components/parts.ts";
import { type Html, html, line } from "../html.ts";
import { type Page, type PageContext, param } from "../page.ts";

const PAGE_FACTS = 50;

export async function expiringPage(context: PageContext): Promise<Page> {
  const { memory, subject } = context;
  const cursor = param(context, "cursor");
  const query = { soonestFirst: true, limit: PAGE_FACTS, ...defined({ cursor }) };
  const { facts, unreadable, nextCursor } = await memory.listFacts(subject, query);
  const isEmpty = facts.length + unreadable.length === 0;
  const asked = defined({ cursor });
  const list = isEmpty ? nothing(context) : selectable(context, "/ending", asked, rows(context, facts));
  const body = html`${doneNotice(context)}${heading("Expiring soon", "Facts that expire within 14 days, pinned ones first, then soonest first. Keep those that still hold.")}
${renewals(context, isEmpty)}${unreadableRows(context, unreadable)}${list}${pager(context, "/ending", asked, nextCursor)}`;
  return { title: "Expiring soon", section: "ending", body };
}

/** To renew many at once: those below, or all. */
function renewals({ viewer: { changes }, links }: PageContext, isEmpty: boolean): Html {
  const ways = isEmpty ? (["all"] as const) : (["expiring", "all"] as const);
  const names = { expiring: "Renew all of these", all: "Renew all facts" };
  if (changes.kind === "commands")
    return html`${ways.map((which) => html`<div class="command inline">${copyable(renewManyCommand(changes, which), `renew-${which}`, names[which])}</div>`)}`;
  return html`<p>${ways.map((which) => html`<a class="button small" href="${links.to("/renewals", { which })}">${names[which]}</a> `)}</p>`;
}

function nothing({ links }: PageContext): Html {
  return empty(
    "Nothing expires within 14 days.",
    "Facts that expire soon appear here.",
    html`<a href="${links.to("/facts")}">Show all facts</a>`,
  );
}

function rows(context: PageContext, facts: readonly FactView[]): Html {
  return html`<ul class="card rows">${facts.map((fact, at) => selectableRow(context, fact, renewal(context, fact, at)))}</ul>`;
}

function renewal({ viewer: { changes }, links }: PageContext, fact: FactView, at: number): Html {
  if (changes.kind === "commands") {
    return html`<div class="command inline">${copyable(keepCommand(changes, fact), `renew-${at}`, `${fact.pinned ? "pin" : "renew"} ${line(fact.key)}`)}</div>`;
  }
  const [path, name] = fact.pinned ? ["/pin", "Keep pinned"] : ["/renew", "Renew"];
  return html`<p><a class="button small" href="${links.to(path, { key: fact.key })}">${name}<span class="visually-hidden"> ${line(fact.key)}</span></a></p>`;
}
