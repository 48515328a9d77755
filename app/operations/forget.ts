/** Forgets all entries in a scope. */
import * as z from "zod";
import { FORGET_SCOPES } from "../../engine/facts/forget-scope.ts";
import { wholeNumber } from "../wire/fields.ts";
import { DELETES, operation } from "./operation.ts";

const forgetRequestSchema = z.strictObject({
  scope: z.string().meta({ minLength: 1, description: `${FORGET_SCOPES}.` }),
  dry_run: z.boolean().nullish().describe("Only count."),
  up_to: z.number().nullish().describe("A dry run's revision: forget only what that counted."),
});

const forgetReplySchema = z.object({
  scope: z.string(),
  deleted: wholeNumber.describe("Entries deleted, or, in a dry run, to delete."),
  dry_run: z.boolean(),
  erased: z
    .enum(["complete", "pending", "nothing"])
    .describe(
      "nothing: no entry was deleted, because the scope matched none or it was a dry run. pending: gone from every answer, but" +
        " the database still holds old, encrypted bytes until its readers finish or its server cleans up.",
    ),
  name_stays: z
    .literal(true)
    .optional()
    .describe("Of everything: the database names this memory until its next clean-up, some minutes later."),
  restored: z
    .int()
    .min(1)
    .optional()
    .describe(
      "Of those deleted by import:<id>: facts restored to what that import replaced or superseded, or, in a dry run, to restore.",
    ),
  former: z
    .int()
    .min(1)
    .optional()
    .describe("Former values erased from the histories of remaining facts, or, in a dry run, to erase."),
  revision: z.int().optional().describe("Of a dry run: for up_to."),
  newer: z
    .object({
      count: z.int().min(1),
      keys: z.array(z.string()).describe("At most ten."),
    })
    .optional()
    .describe("What the scope covers, but was stored or changed after up_to, and stays."),
  near: z
    .array(z.string())
    .optional()
    .describe("When the scope matched nothing: at most three similar keys; key:<key> names one of them."),
});

export const forget = operation("forget", {
  summary: "Forget all entries in a scope.",
  description:
    "Delete from memory for good, only what the user asked to have forgotten. Use dry_run first when a scope may match more than one" +
    " thing. deleted 0: nothing matched; near lists similar keys.",
  effects: DELETES,
  audit: "memory_forgotten",
  input: forgetRequestSchema,
  reply: forgetReplySchema,
  rest: {
    method: "post",
    path: "/api/v1/memory/forget",
    answers: "The number of entries, forgotten or counted.",
    fails: [409],
    names: { input: "ForgetRequest", reply: "ForgetReply" },
    whose: { named: "subject" },
  },
  tool: { title: "Forget", input: forgetRequestSchema },
});
