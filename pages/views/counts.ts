/** The view for somebody who may see only counts, with the reason. */

import { everyCaller } from "../../app/overview.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { empty, heading, notice } from "../components/parts.ts";
import { type Html, html, line } from "../html.ts";
import type { Page, PageContext, Section, View } from "../page.ts";
import { counted, number } from "../words.ts";

const WHY = "You see only counts. To see keys and values, sign in with the right to read everything here.";

const TITLES: Readonly<Partial<Record<Section, string>>> = {
  facts: "Facts",
  timeline: "Timeline",
  ending: "Expiring soon",
  tidy: "Tidy up",
  unasked: "Unasked",
  health: "Health",
};

/** Replaces a page that would show more. */
export function countsPage(section: Section): View {
  return async (context): Promise<Page> => {
    const title = TITLES[section] ?? "Agent memory";
    return { title, section, body: html`${heading(title)}${notice("soft", WHY)}${await counts(context)}` };
  };
}

async function counts({ memory, subject }: PageContext): Promise<Html> {
  const { state, subject: stored, error } = await memory.status(subject);
  if (state === "failed" || stored === undefined) {
    return notice(
      "bad",
      `Memory does not open (${error?.code ?? "unknown"}). Somebody with the right to read everything sees the reason on this page.`,
    );
  }
  const ending = stored.expiring?.count ?? 0;
  const tile = (count: number, one: string, many: string) =>
    html`<div class="card pad tile"><strong>${number(count)}</strong><span class="muted">${count === 1 ? one : many}</span></div>`;
  return html`<div class="tiles">${tile(stored.facts, "fact", "facts")}${tile(stored.auditRows, "record of what tools did", "records of what tools did")}${tile(ending, "fact expires within 14 days", "facts expire within 14 days")}</div>`;
}

/** Who has entries, and how many, for an operator. No keys and no values. */
export async function callersPage({ viewer, memory }: PageContext): Promise<Page> {
  if (!viewer.seesCallers) {
    throw new HelmdeckError("forbidden", "Only an operator may see who has entries here.");
  }
  const callers = await everyCaller(memory);
  const rows = callers.map(
    ({ subject, count }) =>
      html`<tr><th scope="row">${line(subject)}</th><td class="n">${number(count)}</td></tr>`,
  );
  const list = html`<div class="card pad table"><table><caption>Sorted by name. All entries count: facts, records of runs, caches, sessions.</caption>
<thead><tr><th scope="col">Caller</th><th scope="col" class="n">Entries</th></tr></thead><tbody>${rows}</tbody></table></div>`;
  const none = empty("Nobody has stored anything yet.", "Each caller appears here with its first entry.");
  const body = html`${heading("Callers", `${counted(callers.length, "caller")}. Operators see names and counts, never content.`)}${callers.length === 0 ? none : list}`;
  return { title: "Callers", section: "callers", body };
}
