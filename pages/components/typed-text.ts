/** The text of a failed form, shown so that it can be copied and is not lost. */
import { type Html, html } from "../html.ts";

const NAMES = { key: "Key", value: "Value", tags: "Tags" } as const;

/** Undefined if no text was typed. Other fields, such as a token, are not shown. */
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
