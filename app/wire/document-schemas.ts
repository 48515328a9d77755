/** A slice of a virtual document, as OpenClaw's memory_get expects it: schemas for REST. */
import * as z from "zod";
import { ANSWER_LIMITS, DOCUMENT_KINDS, defined, rfc3339 } from "../../engine/index.ts";
import type { DocumentQuery, DocumentSlice } from "../memory.ts";
import { writerReply } from "./view-replies.ts";
import { factSchema } from "./view-schemas.ts";

export const documentRequestSchema = z.strictObject({
  path: z
    .string()
    .meta({ minLength: 1, description: "helmdeck/<category>/<key>.md or helmdeck/my-memory.md." }),
  from_line: z.number().nullish().meta({ description: "The first line; 1 when left out." }),
  line_count: z
    .number()
    .nullish()
    .meta({ description: `The number of lines; at most ${ANSWER_LIMITS.documentLines}.` }),
  renew_on_use: z
    .boolean()
    .nullish()
    .meta({ description: "Renews a fact with the default life when it is read completely." }),
});

const { key, category, created_at, updated_at, writer } = factSchema.shape;
const line = z.int().min(0);

export const documentReplySchema = z.object({
  path: z.string(),
  title: z.string(),
  content: z.string().meta({ description: "Whole lines, byte for byte." }),
  from_line: line,
  line_count: line,
  total_lines: line,
  truncated: z.boolean().meta({ description: "Whether there are more lines." }),
  entry: z
    .object({ kind: z.enum(DOCUMENT_KINDS), key, category, created_at, updated_at, writer })
    .optional()
    .meta({ description: "The document's entry; left out for my-memory." }),
});

export type DocumentRequest = z.infer<typeof documentRequestSchema>;
export type DocumentReply = z.infer<typeof documentReplySchema>;

export function documentOfRequest(request: DocumentRequest): DocumentQuery {
  const { path, from_line, line_count, renew_on_use } = request;
  return {
    path,
    ...defined({
      fromLine: from_line ?? undefined,
      lineCount: line_count ?? undefined,
      renewOnUse: renew_on_use ?? undefined,
    }),
  };
}

export function documentReply(slice: DocumentSlice): DocumentReply {
  const { path, title, content, fromLine, lineCount, totalLines, truncated, entry } = slice;
  return {
    ...{ path, title, content, truncated },
    ...{ from_line: fromLine, line_count: lineCount, total_lines: totalLines },
    ...(entry && { entry: entryReply(entry) }),
  };
}

function entryReply({ createdAt, updatedAt, writer: by, ...entry }: NonNullable<DocumentSlice["entry"]>) {
  return {
    ...entry,
    created_at: rfc3339(createdAt),
    updated_at: rfc3339(updatedAt),
    ...(by && { writer: writerReply(by) }),
  };
}
