/** `forget` for both command lines: previews the scope, asks the person at the terminal, then deletes. */
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { HelmdeckError, harmlessLine } from "../../engine/index.ts";
import type { Forgotten, Memory } from "../memory.ts";
import { similarKeysText } from "../similar-keys-text.ts";
import { forgetPreview } from "./forget-preview.ts";
import type { Presented, Voice } from "./presented.ts";

export const FORGET_WANTS_YES =
  "forget deletes for good; without a terminal it needs --yes, or --dry-run for a preview.";

export interface ForgetOrder {
  readonly scope: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

/** The person at the terminal. */
export interface Person {
  readonly tell: (line: string) => Promise<void> | void;
  /** Resolves to an empty string at the end of the input. */
  readonly ask: (question: string) => Promise<string>;
}

/**
 * Undefined when the person did not agree. Without a terminal, always throws `invalid_input`, whatever is stored: a script must
 * not fail only later because --yes is missing.
 */
export async function forgetAsAsked(
  memory: Memory,
  caller: string,
  { scope, dryRun, yes }: ForgetOrder,
  person: Person | undefined,
): Promise<Forgotten | undefined> {
  if (!dryRun && !yes) {
    if (person === undefined) throw new HelmdeckError("invalid_input", FORGET_WANTS_YES);
    const wouldDelete = await memory.forget(caller, { scope, dryRun: true });
    if (wouldDelete.deleted + (wouldDelete.former ?? 0) === 0) return { ...wouldDelete, dryRun };
    if (!(await agreesToForget(person, memory, [{ caller, forgotten: wouldDelete }]))) return undefined;
  }
  return memory.forget(caller, { scope, dryRun });
}

export function forgetText(forgotten: Forgotten, { caller, command }: Voice): Presented {
  const { scope, deleted, former = 0, restored = 0, dryRun, erased } = forgotten;
  const where = `in the memory of ${harmlessLine(caller)}: ${harmlessLine(scope)}`;
  if (deleted + former === 0) {
    const hint = `Keys and names are exact and case-sensitive: ${command} list shows them.`;
    return {
      answer: [`Nothing ${dryRun ? "would be" : "was"} deleted ${where}`],
      notes: [similarKeysText(forgotten) ?? hint],
    };
  }
  const pending =
    "They are gone from every answer. The database overwrites their old, encrypted bytes a little later.";
  return {
    answer: [`${dryRun ? "Would delete" : "Deleted"} ${entries(deleted, former)} ${where}`],
    notes: [
      ...(restored > 0 ? [goesBack(restored, dryRun)] : []),
      ...(erased === "pending" ? [pending] : []),
    ],
  };
}

/** Asks on these streams, which must be terminals. */
export async function askOn(input: Readable, output: Writable, question: string): Promise<string> {
  const lines = createInterface({ input, output, terminal: false });
  try {
    // The end of the input (Ctrl-D) closes it without an answer.
    return await Promise.race([lines.question(question), once(lines, "close").then(() => "")]);
  } finally {
    lines.close();
  }
}

/** Shows each caller's entries to delete, and asks once. */
export async function agreesToForget(
  { tell, ask }: Person,
  memory: Memory,
  all: readonly { readonly caller: string; readonly forgotten: Forgotten }[],
): Promise<boolean> {
  for (const { caller, forgotten } of all) {
    const { scope, deleted, former } = forgotten;
    const what = `${entries(deleted, former)} of ${harmlessLine(caller)}`;
    await tell(`This deletes ${what} for good: ${harmlessLine(scope)}`);
    for (const note of forgetNotes(forgotten)) await tell(note);
    for (const line of await forgetPreview(memory, caller, scope)) await tell(`  ${line}`);
  }
  if (/^y(es)?$/i.test((await ask("Delete? [y/N] ")).trim())) return true;
  await tell("Nothing was deleted.");
  return false;
}

/** Notes of a preview besides the counts. */
export function forgetNotes({ scope, restored = 0 }: Forgotten): readonly string[] {
  return [
    ...(restored > 0 ? [goesBack(restored, true)] : []),
    ...(scope.startsWith("import:") ? [IMPORT_STAYS] : []),
  ];
}

const IMPORT_STAYS = "Facts that were stored or edited since the import are not included and stay.";

function goesBack(restored: number, isAhead: boolean): string {
  const facts = restored === 1 ? "1 of these facts" : `${restored} of these facts`;
  const verb = isAhead ? (restored === 1 ? "goes" : "go") : "went";
  return `${facts} ${verb} back to the value that the import replaced.`;
}

/** `3 entries and 2 former values of other facts` */
export function entries(count: number, former = 0): string {
  const counted = count === 1 ? "1 entry" : `${count} entries`;
  return former === 0
    ? counted
    : `${counted} and ${former} former ${former === 1 ? "value" : "values"} of other facts`;
}
