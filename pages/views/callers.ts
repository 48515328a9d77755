/** Who has entries, and how many, for an operator. No keys and no values. */
import { HelmdeckError } from "../../engine/errors.ts";
import { empty, heading } from "../components/parts.ts";
import { html, line } from "../html.ts";
import type { Page, PageContext } from "../page.ts";
import { counted, number } from "../words.ts";

export async function callersPage({ viewer, memory }: PageContext): Promise<Page> {
  if (!viewer.seesCallers) {
    throw new HelmdeckError("forbidden", "Only an operator may see who has entries here.");
  }
  const callers = await memory.callers();
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
