/** `forget`: deletes the entries of a scope, on a terminal after a preview and a question. */
import { kindOfScope } from "../app/audit-log.ts";
import type { ForgetInput, Forgotten, Memory } from "../app/memory.ts";
import { everyCaller } from "../app/overview.ts";
import {
  coveredText,
  forgetPreview,
  goesBack,
  nameStaysText,
  newerText,
  similarKeysText,
  wouldForget,
} from "../app/presenters/forget-texts.ts";
import type { Presented, Voice } from "../app/presenters/presented.ts";
import type { Receipt } from "../app/presenters/traces-text.ts";
import type { ValuesInScope } from "../app/traces/values-in-scope.ts";
import { toWire } from "../app/wire/codec.ts";
import { defined } from "../engine/defined.ts";
import { HelmdeckError, partlyDone } from "../engine/errors.ts";
import { harmlessLine } from "../engine/facts/hostile-text.ts";
import { type CommandContext, present, voiceOf } from "./command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "./exit-codes.ts";
import { agreesAt, isPersonAt } from "./input.ts";
import type { ForgottenSought as Sought } from "./show-traces.ts";
import { refuseRemote, withMemory, withMemoryToChange } from "./with-memory.ts";

const FORGET_WANTS_YES =
  "forget deletes for good; without a terminal it needs --yes, or --dry-run for a preview.";

interface ForgetOrder {
  readonly scope: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly everyone: boolean;
  /** Asked for where else it stands. */
  readonly traces: boolean;
}

/** The person at the terminal. */
interface Person {
  readonly tell: (line: string) => Promise<void> | void;
  readonly agrees: (question: string) => Promise<boolean>;
}

/**
 * `forget`: deletes the entries of a scope, on a terminal after a preview and a question.
 *
 * Why the command cannot run: nobody can be asked.
 */
export function problemOf(context: CommandContext, order: ForgetOrder): string | undefined {
  const { scope, dryRun, yes, everyone } = order;
  context.found?.({ ...(!everyone && { subject: context.options.caller }), ...kindOfScope(scope) });
  return dryRun || yes || isPersonAt(context.shell) ? undefined : FORGET_WANTS_YES;
}

export async function forgetCommand(context: CommandContext, order: ForgetOrder): Promise<number> {
  const { output, options } = context;
  const withOpen = order.dryRun ? withMemory : withMemoryToChange<Sought | undefined>;
  const sought = await withOpen(context, async (memory) => {
    const held = await heldBy(context, order, async () => {
      const { valuesInScope } = await import("../app/traces/values-in-scope.ts");
      return valuesInScope(memory, options.caller, order.scope);
    });
    const forgotten = await forgetAsAsked(memory, options.caller, order, personAt(context));
    if (forgotten === undefined) return undefined;
    context.found?.({ entries: forgotten.deleted });
    if (!options.json) await present(context, await told(memory, forgotten, context));
    const { alsoInMemory, soughtIn } = await import("./show-traces.ts");
    const sought = soughtIn(held, forgotten);
    return order.dryRun ? sought : alsoInMemory(sought, memory, { caller: options.caller });
  });
  if (sought === undefined) return EXIT_FAILED;
  const receipt = await traced(context, order, sought);
  const { forgotten } = sought;
  if (options.json) await output.json({ ...toWire(forgotten), ...(receipt && { traces: toWire(receipt) }) });
  return EXIT_DONE;
}

/** The values to look for after they are forgotten; none for a script that does not ask. */
async function heldBy(
  { shell, options }: CommandContext,
  { dryRun, traces }: ForgetOrder,
  read: () => Promise<ValuesInScope>,
): Promise<ValuesInScope> {
  const isWanted = traces || (!dryRun && isPersonAt(shell) && !options.json);
  if (isWanted) return read();
  const { NO_VALUES } = await import("../app/traces/values-in-scope.ts");
  return NO_VALUES;
}

/** Undefined when there was nothing to look for. */
async function traced(
  context: CommandContext,
  { traces, yes }: ForgetOrder,
  sought: Sought,
): Promise<Receipt | undefined> {
  const { deleted, former = 0 } = sought.forgotten;
  if (deleted + former === 0 || (sought.held.facts === 0 && !traces)) return undefined;
  const { traceForgotten } = await import("./show-traces.ts");
  return traceForgotten(context, sought, { isAsked: traces, mayAsk: !yes });
}

/** A dry run shows the preview, too. */
async function told(memory: Memory, forgotten: Forgotten, context: CommandContext): Promise<Presented> {
  const { answer, notes } = forgetText(forgotten, voiceOf(context));
  if (!forgotten.dryRun || forgotten.deleted + (forgotten.former ?? 0) === 0) return { answer, notes };
  const { caller } = context.options;
  const shown = await forgetPreview(memory, caller, forgotten.scope);
  const would = await wouldForget(memory, caller, forgotten, ` of ${harmlessLine(caller)}`);
  return { answer: [would, ...shown.map((line) => `  ${line}`)], notes };
}

function personAt({ shell, output }: CommandContext): Person | undefined {
  if (!isPersonAt(shell)) return undefined;
  return { tell: (line) => output.note(line), agrees: (question) => agreesAt(shell, question) };
}

/**
 * Undefined when the person did not agree. Without a terminal, always throws `invalid_input`, whatever is stored: a script must
 * not fail only later because --yes is missing.
 */
async function forgetAsAsked(
  memory: Memory,
  caller: string,
  { scope, dryRun, yes }: ForgetOrder,
  person: Person | undefined,
): Promise<Forgotten | undefined> {
  if (dryRun || yes) return memory.forget(caller, { scope, dryRun });
  if (person === undefined) throw new HelmdeckError("invalid_input", FORGET_WANTS_YES);
  const wouldDelete = await memory.forget(caller, { scope, dryRun: true });
  if (wouldDelete.deleted + (wouldDelete.former ?? 0) === 0) return { ...wouldDelete, dryRun };
  if (!(await agreesToForget(person, memory, [{ caller, forgotten: wouldDelete }]))) return undefined;
  return memory.forget(caller, { scope, ...upToShown(wouldDelete) });
}

/** Limits a forget to what its preview counted. */
function upToShown({ revision }: Forgotten): Pick<ForgetInput, "upTo"> {
  return defined({ upTo: revision });
}

/** Shows each caller's entries to delete, and asks once. */
async function agreesToForget(
  { tell, agrees }: Person,
  memory: Memory,
  all: readonly { readonly caller: string; readonly forgotten: Forgotten }[],
): Promise<boolean> {
  for (const { caller, forgotten } of all) {
    await tell(await wouldForget(memory, caller, forgotten, ` of ${harmlessLine(caller)}`));
    for (const line of await forgetPreview(memory, caller, forgotten.scope)) await tell(`  ${line}`);
  }
  if (await agrees("Delete?")) return true;
  await tell("Nothing was deleted.");
  return false;
}

function forgetText(forgotten: Forgotten, { caller, command }: Voice): Presented {
  const { scope, deleted, former = 0, restored = 0, dryRun, erased } = forgotten;
  const where = `in the memory of ${harmlessLine(caller)}: ${harmlessLine(scope)}`;
  const newer = newerText(forgotten);
  if (deleted + former === 0) {
    const hint = `Keys and names are exact and case-sensitive: ${command} list shows them.`;
    return {
      answer: [`Nothing ${dryRun ? "would be" : "was"} deleted ${where}`],
      notes: [newer ?? similarKeysText(forgotten) ?? hint],
    };
  }
  const pending =
    "They are gone from every answer. The database overwrites their old, encrypted bytes a little later.";
  return {
    answer: [`Deleted ${coveredText(forgotten)} of ${harmlessLine(caller)}.`],
    notes: [
      ...(restored > 0 && !dryRun ? [goesBack(restored, false)] : []),
      ...(newer === undefined ? [] : [newer]),
      ...(erased === "pending" ? [pending] : []),
      ...[nameStaysText(forgotten)].filter((text) => text !== undefined),
    ],
  };
}

/** `forget import:<id> --everyone`: undoes an import in every memory that has facts of it, with one preview and one question. */
export async function forgetEveryone(context: CommandContext, order: ForgetOrder): Promise<number> {
  const { scope, dryRun, yes } = order;
  await refuseRemote(context, `forget ${scope} --everyone`);
  const done = await withMemoryToChange(context, async (memory) => {
    const foreseen = await inEachMemory(memory, scope);
    const person = personAt(context);
    const isAsked = !dryRun && !yes && person !== undefined && foreseen.length > 0;
    if (isAsked && !(await agreesToForget(person, memory, foreseen))) return undefined;
    const held = await heldBy(context, order, async () => {
      const { joined, valuesInScope } = await import("../app/traces/values-in-scope.ts");
      return joined(await Promise.all(foreseen.map(({ caller }) => valuesInScope(memory, caller, scope))));
    });
    const all: InOneMemory[] = [];
    for (const { caller, forgotten: shown } of foreseen) {
      const asked = { scope, dryRun, ...(isAsked && upToShown(shown)) };
      const forgotten = await memory.forget(caller, asked).catch((error: unknown) => {
        if (dryRun || all.length === 0) throw error;
        const callers = all.map((one) => harmlessLine(one.caller)).join(", ");
        throw partlyDone(error, `Forgotten before that, for: ${callers}. Forget it again to continue.`);
      });
      all.push({ caller, forgotten });
    }
    if (!context.options.json) await report(context, memory, { scope, all });
    const deleted = all.reduce((sum, { forgotten }) => sum + forgotten.deleted, 0);
    context.found?.({ entries: deleted });
    const erased = all.some(({ forgotten }) => forgotten.erased === "pending") ? "pending" : "complete";
    const { soughtIn } = await import("./show-traces.ts");
    return { all, sought: soughtIn(held, { scope, deleted, dryRun, erased }) };
  });
  if (done === undefined) return EXIT_FAILED;
  const receipt = await traced(context, order, done.sought);
  if (!context.options.json) return EXIT_DONE;
  const forgotten = done.all.map(({ caller, forgotten }) => ({ caller, ...toWire(forgotten) }));
  await context.output.json({ forgotten, ...(receipt && { traces: toWire(receipt) }) });
  return EXIT_DONE;
}

interface InOneMemory {
  readonly caller: string;
  readonly forgotten: Forgotten;
}

/** The entries to forget, per memory. */
async function inEachMemory(memory: Memory, scope: string): Promise<readonly InOneMemory[]> {
  const found: InOneMemory[] = [];
  for (const { subject } of await everyCaller(memory)) {
    const forgotten = await memory.forget(subject, { scope, dryRun: true });
    if (forgotten.deleted + (forgotten.former ?? 0) > 0) found.push({ caller: subject, forgotten });
  }
  return found;
}

async function report(
  context: CommandContext,
  memory: Memory,
  { scope, all }: { readonly scope: string; readonly all: readonly InOneMemory[] },
): Promise<void> {
  const { output, options } = context;
  for (const { caller, forgotten } of all) {
    const theirs = { ...context, options: { ...options, caller } };
    await present(theirs, await told(memory, forgotten, theirs));
  }
  if (all.length === 0) await output.line(`No memory has entries of ${scope}`);
}
