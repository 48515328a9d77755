/** Looks through a memory for what somebody should decide, and keeps facts apart. */
import * as z from "zod";
import { nextCursor, wholeNumber } from "../wire/fields.ts";
import { factSchema } from "./facts.ts";
import { ADDS, operation, READS } from "./operation.ts";

const review = operation("review", {
  summary: "Duplicates, conflicts, near-copies from different sources, similar facts, and what expires soon.",
  effects: READS,
  reply: z.object({
    findings: z
      .array(
        z.object({
          kind: z
            .enum(["duplicate", "conflict", "near", "similar", "expiring"])
            .describe(
              "duplicate: they say the same. conflict: they contradict each other. near: nearly the same words, from different sources. similar: about the same thing; one may be outdated.",
            ),
          facts: z.array(factSchema).describe("Newest first, at most ten."),
        }),
      )
      .describe("The most certain first; what expires soon comes last."),
    found: z
      .object({
        duplicate: wholeNumber,
        conflict: wholeNumber,
        near: wholeNumber,
        similar: wholeNumber,
        expiring: wholeNumber,
      })
      .describe("How many there are of each kind."),
    revision: wholeNumber.describe("For up_to of what is done with these facts."),
    next_cursor: nextCursor,
  }),
  rest: {
    method: "get",
    path: "/api/v1/memory/review",
    id: "reviewMemory",
    answers: "What was found.",
    names: { reply: "Review" },
    isLarge: true,
  },
});

const keepApart = operation("keepApart", {
  summary: "Keep facts apart that say the same or contradict each other.",
  description:
    "A review does not ask about them again, until one of them gets another value. apart false: it asks again.",
  effects: ADDS,
  input: z.strictObject({
    keys: z.array(z.string()).describe("2 to 10 keys, paths, docids or citations."),
    apart: z.boolean().nullish().describe("false: undo that."),
    up_to: wholeNumber
      .nullish()
      .describe("The revision of a review: a fact that was written later gives changed_meanwhile."),
  }),
  reply: z.object({ keys: z.array(z.string()), apart: z.boolean() }),
  rest: {
    method: "post",
    path: "/api/v1/memory/apart",
    answers: "Their keys.",
    fails: [404, 409],
    names: { input: "ApartRequest", reply: "ApartReply" },
  },
});

export const REVIEW_OPERATIONS = [review, keepApart];
