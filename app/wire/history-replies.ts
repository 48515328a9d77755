/** What a fact held before, and what an undo did, as every surface shows it. */
import type { FactHistory, FormerView, UndoneFact } from "../memory.ts";
import type { HistoryReply, UndoReply } from "./history-schemas.ts";
import { factReply } from "./view-replies.ts";

export type FormerReply = HistoryReply["former"][number];

/** What an undo would bring back is among the former values: which of them is marked, instead of said twice. */
export function historyReply({ key, former, undo }: FactHistory): HistoryReply {
  const isBack = (one: FormerView) => undo.some((other) => isSame(one, other));
  return { key, former: former.map((one) => ({ ...formerReply(one), ...(isBack(one) && { undo: true }) })) };
}

function isSame(one: FormerView, other: FormerView): boolean {
  const same = ["key", "category", "updatedAt", "fingerprint"] as const;
  return same.every((field) => one[field] === other[field]);
}

export function formerReply(former: FormerView): FormerReply {
  const { path: _, ...reply } = factReply({ ...former, path: "" });
  return reply;
}

export function undoReply({ undone, restored }: UndoneFact): UndoReply {
  return { undone: factReply(undone), restored: restored.map(factReply) };
}
