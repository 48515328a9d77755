/** Replies with a fact's history and the result of an undo, the same on every surface. */
import type { FactHistory, FormerView, UndoneFact } from "../memory.ts";
import type { HistoryReply, UndoReply } from "./history-schemas.ts";
import { factReply } from "./view-replies.ts";

export type FormerReply = HistoryReply["former"][number];

/** The values that an undo would restore are marked among the former values instead of being repeated. */
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
