/** Requests and replies of history and undo: schemas for REST and MCP. */
import * as z from "zod";
import { factSchema } from "./view-schemas.ts";

const key = z.string().meta({
  minLength: 1,
  description: "The fact's key, path, docid or citation; also of a superseded fact.",
});

export const historyRequestSchema = z.strictObject({ key });

export const undoRequestSchema = z.strictObject({
  key: key.meta({ description: "The fact's key, path, docid or citation." }),
});

const formerSchema = factSchema.omit({ path: true }).extend({
  undo: z.literal(true).optional().meta({ description: "An undo restores it." }),
});

export const historyReplySchema = z.object({
  key: z.string().meta({
    description: "The fact with the history; for a superseded fact, the one that replaced it.",
  }),
  former: z.array(formerSchema).meta({
    description: "Newest first, at most ten; key is what each was stored under. Searches do not find them.",
  }),
});

export const undoReplySchema = z.object({
  undone: factSchema.meta({ description: "The undone value." }),
  restored: z.array(factSchema).meta({ description: "The restored facts." }),
});

export type HistoryRequest = z.infer<typeof historyRequestSchema>;
export type HistoryReply = z.infer<typeof historyReplySchema>;
export type UndoReply = z.infer<typeof undoReplySchema>;
