/** What a fact held before, and what an undo did, as every surface shows it. */
import type { FactHistory, FormerView, UndoneFact } from "../memory.ts";
import type { HistoryReply, UndoReply } from "./history-schemas.ts";
import { factReply } from "./view-replies.ts";

export type FormerReply = HistoryReply["former"][number];

export function historyReply({ key, former }: FactHistory): HistoryReply {
  return { key, former: former.map(formerReply) };
}

export function formerReply(former: FormerView): FormerReply {
  const { path: _, ...reply } = factReply({ ...former, path: "" });
  return reply;
}

export function undoReply({ undone, restored }: UndoneFact): UndoReply {
  return { undone: factReply(undone), restored: restored.map(factReply) };
}
