/** What can be changed: the buttons, the commands to copy where pages cannot change anything themselves, and the notice afterwards. */
import type { FactView } from "../../app/memory.ts";
import { staysText } from "../../app/presenters/ending-text.ts";
import { alsoInNotes, nameStaysText } from "../../app/presenters/forget-texts.ts";
import { keepArguments } from "../../app/presenters/tidy-text.ts";
import { isCopyable, shellWord } from "../../app/presenters/words.ts";
import { DEFAULT_CATEGORY } from "../../engine/facts/facts-policy.ts";
import { ownTags } from "../../engine/facts/marks.ts";
import { type Html, html } from "../html.ts";
import type { Params } from "../links.ts";
import { type PageContext, param } from "../page.ts";
import type { Changes } from "../viewer.ts";
import { notice } from "./parts.ts";

export type Commands = Extract<Changes, { readonly kind: "commands" }>;

export interface Command {
  readonly name: string;
  readonly about: string;
  readonly text: string;
}

/**
 * A fact by its key, or by its path (plain ASCII) if the key cannot be shown and copied unchanged. `isKey`: the argument
 * must be read as a key and as nothing else.
 */
function nameInShell({ key, path }: Pick<FactView, "key" | "path">, isKey = false): string {
  if (!isCopyable(key)) return shellWord(path);
  return shellWord(isKey ? `key:${key}` : key);
}

function command({ program, options }: Commands, ...words: readonly string[]): string {
  return [program, ...words, ...(options === "" ? [] : [options])].join(" ");
}

type Superseded = Pick<FactView, "key" | "path" | "category" | "tags">;

/** A new fact has the category and tags that its store names. */
function kept({ category, tags }: Superseded): readonly string[] {
  const named = category === DEFAULT_CATEGORY ? [] : [`--category ${category}`];
  return [
    ...named,
    ...ownTags(tags)
      .filter((tag) => isCopyable(`=${tag}`))
      .map((tag) => `--tag=${shellWord(tag)}`),
  ];
}

interface Change {
  /** Its button; in lower case the path of its form. */
  readonly name: string;
  readonly about: string;
  /** Of its command. */
  readonly words: (fact: Superseded) => readonly string[];
}

const RENEW: Change = {
  name: "Renew",
  about: "Keeps the fact as long as a new one.",
  words: (fact) => ["renew", nameInShell(fact)],
};

const PIN: Change = {
  name: "Pin",
  about: "Keeps it in every prompt of its agent, for a year; again for another year.",
  words: (fact) => ["pin", nameInShell(fact)],
};

const CHANGES: readonly Change[] = [
  {
    name: "Edit",
    about: "Opens the value in your editor.",
    words: (fact) => ["edit", nameInShell(fact)],
  },
  RENEW,
  PIN,
  {
    name: "Supersede",
    about: "Stores a new fact that replaces this one. Fill in key and text.",
    words: (fact) => [
      "store",
      "NEW-KEY",
      '"the new text"',
      `--supersedes ${nameInShell(fact)}`,
      ...kept(fact),
    ],
  },
  {
    name: "Undo",
    about: "Undoes the last store that changed it.",
    words: (fact) => ["undo", nameInShell(fact)],
  },
  {
    name: "Forget",
    about: "Deletes the fact and its history for good, after a preview.",
    words: (fact) => ["forget", nameInShell(fact, true)],
  },
];

/** What can be done with one fact, as buttons or as commands. */
export function changesOf(canUndo: boolean): readonly Change[] {
  return CHANGES.filter(({ name }) => canUndo || name !== "Undo");
}

export function factCommands(commands: Commands, fact: FactView, canUndo: boolean): readonly Command[] {
  const changes = [...changesOf(canUndo), ...(fact.pinned ? [UNPIN] : [])];
  return changes.map(({ words, ...change }) => ({
    ...change,
    text: command(commands, ...words(fact)),
  }));
}

/** On a page it stands with the pin. */
const UNPIN: Change = {
  name: "Unpin",
  about: "Takes it out of the prompts.",
  words: (fact) => ["unpin", nameInShell(fact)],
};

/** A pinned fact is kept by pinning it again. */
export function keepCommand(commands: Commands, fact: Superseded & Pick<FactView, "pinned">): string {
  return command(commands, ...(fact.pinned ? PIN : RENEW).words(fact));
}

export function renewManyCommand(commands: Commands, which: "expiring" | "all"): string {
  return command(commands, "renew", `--${which}`);
}

/** Asks about each finding. */
export function tidyCommand(commands: Commands): string {
  return command(commands, "tidy");
}

type Named = Pick<FactView, "key" | "path">;

export function mergeCommand(
  commands: Commands,
  fact: Named,
  others: readonly Named[],
  upTo: number,
): string {
  return command(commands, keepArguments(fact, others, upTo));
}

/** The command shows a preview and asks first. */
export function forgetImportCommand(commands: Commands, id: string): string {
  return command(commands, "forget", shellWord(`import:${id}`));
}

export function commandList(commands: readonly Command[]): Html {
  return html`<div class="card">${commands.map(
    ({ name, about, text }, at) =>
      html`<div class="command"><p><strong>${name}</strong> <span class="muted">${about}</span></p>${copyable(text, `command-${at}`, name)}</div>`,
  )}</div>`;
}

/** `id` is unique on its page. */
export function copyable(text: string, id: string, name: string): Html {
  return html`<div><code id="${id}">${text}</code><button class="small" type="button" data-copy="${id}" hidden aria-label="Copy the command: ${name}">Copy</button></div>`;
}

/** The address selects one of these and cannot add text. */
const DONE = {
  stored: "Stored.",
  saved: "Saved. Its value is the same as before.",
  edited: "Saved. The former value is in its history.",
  renewed: "Renewed.",
  renewedMany: "Renewed. They are kept as long as new facts, pinned ones for a year.",
  categorised: "They are in that category now. Nothing else changed.",
  nothingChanged: "There was nothing left to change.",
  restored: "Undone. They have their former ends and categories back.",
  pinned: "Pinned: it stands in every prompt of its agent, for a year from now.",
  unpinned: "Unpinned. It stays stored.",
  merged: "Merged. The values of the others are in its history.",
  apart: "They stay, and are not shown again until one of them gets another value.",
  again: "They are shown beside each other again.",
  superseded: "Stored. The old fact is retired; its value is in this fact's history.",
  undone: "Undone. The former value is restored.",
  forgotten: "Forgotten, and erased from the database.",
  pending:
    "Forgotten: no answer shows it any more. The encrypted bytes are erased from the database file shortly.",
  everything: `Forgotten: no answer shows anything any more. ${nameStaysText({ nameStays: true })}`,
  deleted: "Forgotten: helmdeck deleted it. Its database may keep the encrypted bytes for a while.",
  nothing: "There was nothing left to forget.",
};

export type Done = keyof typeof DONE;

/** With a way back, if there is one. */
export function doneNotice(context: PageContext): Html | undefined {
  const done = param(context, "done") ?? "";
  if (!Object.hasOwn(DONE, done)) return undefined;
  return html`${doneText(context, done as Done)}${undoLink(context, done as Done)}`; // one of its own names, as just checked
}

function undoLink(context: PageContext, done: Done): Html | undefined {
  if (context.viewer.changes.kind !== "forms") return undefined;
  const [key, keys] = [param(context, "key"), param(context, "keys")];
  const way = (name: string, path: string, params: Params) =>
    html`<p><a class="button small" href="${context.links.to(path, params)}">${name}</a></p>`;
  if (done === "renewedMany" || done === "categorised")
    return way("Undo this", "/renewals", { which: "undo" });
  if (done === "merged" && key !== undefined) return way("Undo the merge", "/undo", { key });
  if (done === "apart" && keys !== undefined) return way("Show them again", "/apart", { keys, again: 1 });
  return undefined;
}

function doneText(context: PageContext, done: Done): Html {
  const [newer] = /^\d{1,6}$/.exec(param(context, "newer") ?? "") ?? [];
  const text = newer === undefined ? DONE[done] : `${DONE[done]} ${staysText(Number(newer))}`;
  const [, count, more] = /^(\d{1,6})(-or-more)?$/.exec(param(context, "notes") ?? "") ?? [];
  if (count === undefined || done === "nothing") return notice("ok", text);
  const also = alsoInNotes({ count: Number(count), isComplete: more === undefined }, "helmdeck-memory");
  return notice("ok", also === undefined ? text : `${text} ${also}`);
}
