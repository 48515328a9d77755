/** Reads a fact's former values, undoes its last store, renews and pins it. */
import * as z from "zod";
import { noHistory } from "../presenters/history-text.ts";
import { rfc3339Schema, wholeNumber } from "../wire/fields.ts";
import { historyReply } from "../wire/replies.ts";
import { writerClaimSchema } from "../wire/schemas.ts";
import { HISTORY_DESCRIPTION, PIN_DESCRIPTION, UNDO_DESCRIPTION } from "../wire/tool-texts.ts";
import { factSchema } from "./facts.ts";
import { ADDS, DELETES, operation, READS } from "./operation.ts";

const key = z.string().describe("Key, path, docid or citation.");

const if_revision = wholeNumber
  .nullish()
  .describe("Only while the fact has this revision; otherwise changed_meanwhile, and nothing is written.");

const formerSchema = factSchema.omit({ path: true, revision: true, pinned: true }).extend({
  undo: z.literal(true).optional().describe("An undo restores it."),
});

const factHistory = operation("factHistory", {
  summary: "The former values of a fact.",
  description: HISTORY_DESCRIPTION,
  effects: READS,
  reply: z.object({
    key: z.string().describe("The fact with the history; for a superseded fact, the one that replaced it."),
    former: z
      .array(formerSchema)
      .describe("Newest first, at most ten; key is what each was stored under. Searches do not find them."),
  }),
  missing: noHistory,
  toReply: historyReply,
  fromReply: ({ key, former }) => {
    const plain = ({ undo: _, ...one }: (typeof former)[number]) => one;
    return { key, former: former.map(plain), undo: former.filter(({ undo }) => undo).map(plain) };
  },
  rest: {
    method: "get",
    path: "/api/v1/memory/facts/{key}/history",
    answers: "Former values, newest first.",
    fails: [404],
    names: { reply: "History" },
    isLarge: true,
  },
  tool: {
    title: "Former values of a fact",
    input: z.object({ key }),
    pages: { items: "former", text: "value" },
  },
});

const undoRequestSchema = z.strictObject({ key });

const undoFact = operation("undoFact", {
  summary: "Undo the last store of a fact.",
  description: UNDO_DESCRIPTION,
  effects: { ...DELETES, idempotent: false },
  input: undoRequestSchema.extend({ if_revision }),
  reply: z.object({
    undone: factSchema.describe("The undone value."),
    restored: z.array(factSchema).describe("The restored facts."),
  }),
  rest: {
    method: "post",
    path: "/api/v1/memory/undo",
    answers: "The restored fact.",
    fails: [404, 409],
    names: { input: "UndoRequest", reply: "UndoReply" },
  },
  tool: {
    title: "Undo the last store",
    input: undoRequestSchema,
    pages: { items: "restored", text: "value" },
  },
});

const renewRequestSchema = z.strictObject({
  key,
  ttl_seconds: z
    .number()
    .nullish()
    .describe(
      "From now on, 3600 to 31536000; left out: the default, 90 days unless the operator chose another.",
    ),
});

const renewFact = operation("renewFact", {
  summary: "Renew a fact.",
  description:
    "Keep a fact that is still true, for the default time or ttl_seconds. For another value, store it.",
  effects: ADDS,
  input: renewRequestSchema.extend({
    if_revision,
    dry_run: z.boolean().nullish().describe("Change nothing; answer the fact as it would be."),
  }),
  reply: factSchema,
  rest: {
    method: "post",
    path: "/api/v1/memory/renew",
    answers: "The fact with its new expiry.",
    fails: [404, 409],
    names: { input: "RenewRequest", reply: "Fact" },
  },
  tool: { title: "Keep a fact longer", input: renewRequestSchema, pages: { text: "value" } },
});

const WHICH = z
  .enum(["expiring", "all", "undo"])
  .describe("Which facts; undo: those of the last such change.");

const renewFacts = operation("renewFacts", {
  summary: "Renew many facts, or put them into a category, or undo that.",
  description:
    "Keeps facts for the default time, or puts them into a category: those that expire within 14 days, or all, or those with these keys. undo gives those of the last such change their former ends and categories back.",
  effects: ADDS,
  input: z.strictObject({
    which: WHICH,
    keys: z.array(z.string()).nullish().describe("With all: only those with these exact keys; at most 250."),
    category: z.string().nullish().describe("Put them into this category, instead of renewing them."),
    dry_run: z.boolean().nullish().describe("Only count."),
    up_to: z.number().nullish().describe("A dry run's revision: change only what that counted."),
    writer: writerClaimSchema.optional(),
  }),
  reply: z.object({
    which: WHICH,
    renewed: wholeNumber.describe("Facts that got another end or category, or, in a dry run, would get one."),
    dry_run: z.boolean().describe("Nothing was changed."),
    expires_at: rfc3339Schema("The soonest of the new ends.").optional(),
    revision: z.int().optional().describe("Of a dry run: for up_to."),
    newer: z.int().min(1).optional().describe("Changed after up_to: they stay as they are."),
  }),
  rest: {
    method: "post",
    path: "/api/v1/memory/renewals",
    answers: "How many facts have another end.",
    fails: [409],
    names: { input: "RenewalsRequest", reply: "RenewalsReply" },
  },
});

const pinRequestSchema = z.strictObject({
  key,
  pinned: z.boolean().nullish().describe("false: unpin it."),
  if_revision: z.number().nullish().describe("Only at this revision."),
});

const pinFact = operation("pinFact", {
  summary: "Pin a fact, or unpin it.",
  description: PIN_DESCRIPTION,
  effects: ADDS,
  input: pinRequestSchema.extend({ writer: writerClaimSchema.optional() }),
  reply: factSchema,
  rest: {
    method: "post",
    path: "/api/v1/memory/pin",
    answers: "The fact, with its expiry.",
    fails: [404, 409],
    names: { input: "PinRequest", reply: "Fact" },
  },
  tool: { title: "Pin a fact", input: pinRequestSchema, pages: { text: "value" } },
});

export const HISTORY_OPERATIONS = [factHistory, undoFact, renewFact, renewFacts, pinFact];
