/** Text of `renew` for both command lines. */
import { harmlessLine } from "../../engine/index.ts";
import type { FactView } from "../memory.ts";
import { expiryFrom, localMinute } from "./local-times.ts";
import type { Presented, Voice } from "./presented.ts";

export function renewText(
  { key, expiresAt }: FactView,
  { caller, now }: Pick<Voice, "caller" | "now">,
): Presented {
  const end = expiresAt === undefined ? "" : `, on ${localMinute(expiresAt)}`;
  const name = `${harmlessLine(key)} for ${harmlessLine(caller)}`;
  return { answer: [`Renewed ${name}. It expires ${expiryFrom(now, expiresAt)}${end}.`], notes: [] };
}
