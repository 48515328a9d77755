/** What a fact held before, and what an undo did, as clients ask for it and receive it: described for REST and MCP. */
import * as z from "zod";
import { factSchema } from "./view-schemas.ts";

const key = z.string().meta({
  minLength: 1,
  description: "The fact's key, path, docid or citation; of a superseded fact too.",
});

export const historyRequestSchema = z.strictObject({ key });

export const undoRequestSchema = z.strictObject({
  key: key.meta({ description: "The fact's key, path, docid or citation." }),
});

const formerSchema = factSchema.omit({ path: true }).extend({
  undo: z.literal(true).optional().meta({ description: "An undo brings it back." }),
});

export const historyReplySchema = z.object({
  key: z.string().meta({
    description:
      "The fact whose history it is: where one was asked for that was superseded, the one in its place.",
  }),
  former: z.array(formerSchema).meta({
    description:
      "Newest first, at most ten; key says what each stood under. Nothing of it is found by a search.",
  }),
});

export const undoReplySchema = z.object({
  undone: factSchema.meta({ description: "What was taken back." }),
  restored: z.array(factSchema).meta({ description: "What is there again." }),
});

export type HistoryRequest = z.infer<typeof historyRequestSchema>;
export type HistoryReply = z.infer<typeof historyReplySchema>;
export type UndoReply = z.infer<typeof undoReplySchema>;
