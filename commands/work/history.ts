/** `history`: a fact's former values. `undo`: undoes the last store. `renew`: gives a fact a new lifetime. */

import type { FactView, RenewInput } from "../../app/memory.ts";
import { historyText, noHistory, undoText } from "../../app/presenters/history-text.ts";
import { expiryFrom, localMinute } from "../../app/presenters/local-times.ts";
import type { Presented, Voice } from "../../app/presenters/presented.ts";
import { toWire } from "../../app/wire/codec.ts";
import { historyReply } from "../../app/wire/replies.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { CommandContext } from "../command-line.ts";
import { EXIT_DONE } from "../exit-codes.ts";
import { present, voiceOf } from "../voice.ts";
import { withMemory, withMemoryToWrite } from "../with-memory.ts";

export async function historyCommand(context: CommandContext, key: string): Promise<number> {
  const { output, options } = context;
  const history = await withMemory(context, (memory) => memory.factHistory(options.caller, { key }));
  if (history === undefined) throw noHistory(options.caller);
  if (options.json) await output.json(historyReply(history));
  else await present(context, historyText(history, voiceOf(context)));
  return EXIT_DONE;
}

export async function undoCommand(context: CommandContext, key: string): Promise<number> {
  const { output, options } = context;
  const undone = await withMemoryToWrite(context, (memory) => memory.undoFact(options.caller, { key }));
  if (options.json) await output.json(toWire(undone));
  else await present(context, undoText(undone, `${voiceOf(context).command} undo`));
  return EXIT_DONE;
}

export async function renewCommand(context: CommandContext, input: RenewInput): Promise<number> {
  const { output, options } = context;
  const fact = await withMemoryToWrite(context, (memory) => memory.renewFact(options.caller, input));
  if (options.json) await output.json(toWire(fact));
  else await present(context, renewText(fact, voiceOf(context)));
  return EXIT_DONE;
}

export function renewText(
  { key, expiresAt }: FactView,
  { caller, now }: Pick<Voice, "caller" | "now">,
): Presented {
  const end = expiresAt === undefined ? "" : `, on ${localMinute(expiresAt)}`;
  const name = `${harmlessLine(key)} for ${harmlessLine(caller)}`;
  return { answer: [`Renewed ${name}. It expires ${expiryFrom(now, expiresAt)}${end}.`], notes: [] };
}
