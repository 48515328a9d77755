/** `renew`: gives a fact a new lifetime. */

import type { FactView, RenewInput } from "../../app/memory.ts";
import { expiryFrom, localMinute } from "../../app/presenters/local-times.ts";
import type { Presented, Voice } from "../../app/presenters/presented.ts";
import { toWire } from "../../app/wire/codec.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { CommandContext } from "../command-line.ts";
import { EXIT_DONE } from "../exit-codes.ts";
import { present, voiceOf } from "../voice.ts";
import { withMemoryToWrite } from "../with-memory.ts";

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
