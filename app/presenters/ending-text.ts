/** Texts about what ends: facts that expire soon with how to keep them, and how long a pin lasts. */
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { ExpiringFacts } from "../../engine/projections/my-memory.ts";
import type { FactView, RenewedFacts } from "../memory.ts";
import { counted, localMinute } from "./words.ts";

/** `2 facts: allergies (pinned), deploy/konflux` */
export function endingText({ count, soonest }: ExpiringFacts, most = Number.POSITIVE_INFINITY): string {
  const shown = soonest.slice(0, most);
  const keys = shown.map(({ key, pinned }) => `${harmlessLine(key).trim()}${pinned ? " (pinned)" : ""}`);
  return `${counted(count, "fact")}: ${keys.join(", ")}${count > shown.length ? ", …" : ""}`;
}

interface Commands {
  readonly renew: string;
  readonly pin: string;
}

/** How to keep them: a pinned one for another year. */
export function keepingTexts({ soonest }: ExpiringFacts, { renew, pin }: Commands): readonly string[] {
  const pinned = soonest.find((one) => one.pinned);
  return [
    ...(pinned === undefined ? [] : [`${pin} ${harmlessLine(pinned.key)} keeps it another year.`]),
    ...(soonest.every((one) => one.pinned) ? [] : [`${renew} <key> keeps a fact.`]),
  ];
}

const MOST_NAMED = 3;

/** For a list: what ends soon, and how to keep it. */
export function endingNote(expiring: ExpiringFacts | undefined, commands: Commands): readonly string[] {
  if (expiring === undefined) return [];
  const ways = keepingTexts(expiring, commands).join(" ");
  return [`Expiring within 14 days: ${endingText(expiring, MOST_NAMED)}. ${ways}`];
}

/** For a person, once a day. `command`: what keeps them. */
export function endingLine(facts: number, command: string): string {
  const [end, them] = facts === 1 ? ["ends", "it"] : ["end", "them"];
  return `${counted(facts, "fact")} ${end} within 14 days. To keep ${them}: ${command}`;
}

const NOTHING_RENEWED = {
  expiring: "No fact that expires within 14 days would end later.",
  all: "No fact would end later.",
  undo: "There is no renewal of many facts to undo.",
} as const;

/** Of a change of many facts: those that were stored or changed after its preview. */
export function staysText(newer: number): string {
  return `${counted(newer, "fact")} changed since, and stayed as they were.`;
}

/** What a change of many facts did, or would do. Without a new end, it is one of their category. */
export function renewedText({ which, renewed, dryRun, expiresAt, newer }: RenewedFacts): string {
  const stays = newer === undefined ? "" : ` ${staysText(newer)}`;
  if (renewed === 0) return `${NOTHING_RENEWED[which]}${stays}`;
  const facts = counted(renewed, "fact");
  if (expiresAt === undefined) {
    const place = which === "undo" ? "back into the former category" : "into the category";
    return `${dryRun ? "Would put" : "Put"} ${facts} ${place}.${stays}`;
  }
  const day = localMinute(expiresAt).slice(0, "2026-01-01".length);
  const [done, would, until] =
    which === "undo"
      ? [`${facts} got the former end back`, `Would give ${facts} the former end back`, "the first ends on"]
      : [`Renewed ${facts}`, `Would renew ${facts}`, "until"];
  return `${dryRun ? would : done}${which === "undo" ? ": " : " "}${until} ${day}.${stays}`;
}

/** `pin`: the command that confirms it. */
export function pinText({ key, pinned, expiresAt }: FactView, pin: string): string {
  const name = harmlessLine(key);
  const until =
    expiresAt === undefined ? "" : ` until ${localMinute(expiresAt).slice(0, "2026-01-01".length)}`;
  if (!pinned) return `Unpinned ${name}. It is kept${until}.`;
  return `Pinned ${name}: it stands in every prompt of its agent${until}. Then, or before, ${pin} ${name} keeps it another year.`;
}
