/** Renews many facts, and undoes that: after a preview that counts them. */
import type { RenewedFacts, RenewFactsInput } from "../../app/memory.ts";
import { renewedText } from "../../app/presenters/ending-text.ts";
import { HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { heading, notice } from "../components/parts.ts";
import { html } from "../html.ts";
import { type Answer, type Fields, type Page, type PageContext, param, requireForms } from "../page.ts";
import { actions, cancel, carried, form, revisionOf, stepButton, text } from "./form-parts.ts";

type Which = RenewFactsInput["which"];

const TITLES: Readonly<Record<Which, string>> = {
  expiring: "Renew all that expires soon",
  all: "Renew all facts",
  undo: "Undo the last renewal of many facts",
};

export async function renewalsForm(context: PageContext): Promise<Answer> {
  requireForms(context);
  return preview(context);
}

export async function submitRenewals(context: PageContext, fields: Fields): Promise<Answer> {
  requireForms(context);
  const upTo = revisionOf(fields);
  if (text(fields, "step") !== "confirm" || upTo === undefined) return preview(context);
  try {
    const { which, renewed } = await ask(context, { upTo });
    const done = renewed === 0 ? "nothingRenewed" : which === "undo" ? "endsRestored" : "renewedMany";
    return { location: context.links.to("/ending", { done }) };
  } catch (error) {
    if (!isHelmdeckError(error, "changed_meanwhile")) throw error;
    return { ...(await preview(context)), status: 409 };
  }
}

function ask(context: PageContext, more: Omit<RenewFactsInput, "which">): Promise<RenewedFacts> {
  const { writer } = requireForms(context);
  const asker = { ...writer, isPerson: true } as const;
  return context.memory.renewFacts(context.subject, { which: whichOf(context), ...more }, asker);
}

function whichOf(context: PageContext): Which {
  const named = param(context, "which");
  const which = (Object.keys(TITLES) as readonly Which[]).find((one) => one === named); // complete by its type
  if (which !== undefined) return which;
  throw new HelmdeckError("not_found", "There is no such page.");
}

async function preview(context: PageContext): Promise<Page> {
  const { links } = context;
  const would = await ask(context, { dryRun: true });
  const title = `Preview: ${TITLES[would.which]}`;
  const back = cancel(links.to("/ending"));
  const confirm = html`${carried({ revision: `${would.revision ?? ""}` })}${actions(stepButton("confirm", TITLES[would.which], "primary"), back)}`;
  const body = html`${heading(title, "Nothing is changed yet.")}${notice("ok", renewedText(would))}
${would.renewed === 0 ? actions(back) : form(requireForms(context), links.to("/renewals", { which: would.which }), confirm)}`;
  return { title, section: "ending", body };
}
