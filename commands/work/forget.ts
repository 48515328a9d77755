/** `forget`: deletes the entries of a scope, on a terminal after a preview and a question. */
import {
  askOn,
  FORGET_WANTS_YES,
  type ForgetOrder,
  type Forgotten,
  forgetAsAsked,
  forgetPreview,
  forgetReply,
  forgetText,
  type Memory,
  type Person,
  type Presented,
} from "../../app/index.ts";
import type { CommandContext } from "../command-line.ts";
import { EXIT_DONE, EXIT_FAILED } from "../exit-codes.ts";
import { present, voiceOf } from "../voice.ts";
import { withMemoryToWrite } from "../with-memory.ts";

/** Why the command cannot run: nobody can be asked. */
export function problemOf({ shell }: CommandContext, { dryRun, yes }: ForgetOrder): string | undefined {
  return dryRun || yes || isPersonThere(shell) ? undefined : FORGET_WANTS_YES;
}

export function forgetCommand(context: CommandContext, order: ForgetOrder): Promise<number> {
  const { output, options } = context;
  return withMemoryToWrite(context, async (memory) => {
    const forgotten = await forgetAsAsked(memory, options.caller, order, personAt(context));
    if (forgotten === undefined) return EXIT_FAILED;
    if (options.json) await output.json(forgetReply(forgotten));
    else await present(context, await told(memory, forgotten, context));
    return EXIT_DONE;
  });
}

/** A dry run shows the preview, too. */
export async function told(
  memory: Memory,
  forgotten: Forgotten,
  context: CommandContext,
): Promise<Presented> {
  const { answer, notes } = forgetText(forgotten, voiceOf(context));
  if (!forgotten.dryRun || forgotten.deleted === 0) return { answer, notes };
  const shown = await forgetPreview(memory, context.options.caller, forgotten.scope);
  return { answer: [...answer, ...shown.map((line) => `  ${line}`)], notes };
}

export function personAt({ shell, output }: CommandContext): Person | undefined {
  if (!isPersonThere(shell)) return undefined;
  return {
    tell: (line) => output.note(line),
    ask: (question) => askOn(shell.stdin, shell.stderr, question),
  };
}

function isPersonThere({ stdin, stderr }: CommandContext["shell"]): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}
