/** Converts requests and replies of memory to and from use cases: one shape for every surface. */
import { defined, rfc3339 } from "../../engine/index.ts";
import type {
  CorpusAnswer,
  CorpusQuery,
  FactInput,
  ForgetInput,
  Forgotten,
  SimilarFact,
  StoredCounts,
  StoredFact,
} from "../memory.ts";
import type {
  CorpusReply,
  CorpusRequest,
  DocumentsReply,
  ForgetReply,
  ForgetRequest,
  StoreReply,
  StoreRequest,
} from "./memory-schemas.ts";

export function factOfRequest({
  key,
  value,
  category,
  tags,
  supersedes,
  ttl_seconds,
}: StoreRequest): FactInput {
  return {
    key,
    value,
    ...defined({
      category: category ?? undefined,
      tags: tags ?? undefined,
      supersedes: supersedes ?? undefined,
      ttlSeconds: ttl_seconds ?? undefined,
    }),
  };
}

export function storeReply({ key, category, expiresAt, path, replaced, ...others }: StoredFact): StoreReply {
  const { superseded, sameAs, similar } = others;
  return {
    key,
    category,
    expires_at: rfc3339(expiresAt),
    path,
    ...(replaced && {
      replaced: { updated_at: rfc3339(replaced.updatedAt), refreshed: replaced.refreshed },
    }),
    ...(superseded && { superseded: [...superseded] }),
    ...(sameAs && { same_as: [...sameAs] }),
    ...(similar && { similar: similar.map(similarReply) }),
  };
}

function similarReply({ key, value, updatedAt }: SimilarFact) {
  return { key, value, updated_at: rfc3339(updatedAt) };
}

export function forgetOfRequest({ scope, dry_run }: ForgetRequest): ForgetInput {
  return { scope, dryRun: dry_run ?? false };
}

export function forgetReply({
  scope,
  deleted,
  dryRun,
  erased,
  restored,
  former,
  near,
}: Forgotten): ForgetReply {
  return {
    scope,
    deleted,
    dry_run: dryRun,
    erased,
    ...defined({ restored, former }),
    ...(near && { near: [...near] }),
  };
}

export function corpusQueryOfRequest({ query, limit, cursor, recall }: CorpusRequest): CorpusQuery {
  return {
    ...defined({
      query: query ?? undefined,
      limit: limit ?? undefined,
      cursor: cursor ?? undefined,
      recall: recall ?? undefined,
    }),
  };
}

export function corpusReply({ chunks, nextCursor, mode, note, unmatched }: CorpusAnswer): CorpusReply {
  return {
    chunks: chunks.map(({ metadata, ...chunk }) => ({ ...chunk, metadata: plain(metadata) })),
    ...defined({ next_cursor: nextCursor, mode, note }),
    ...(unmatched && { unmatched: countsReply(unmatched) }),
  };
}

/** For clients that get an answer both as text and as data: duplicate content would be sent four times. */
export function documentsReply(answer: CorpusAnswer): DocumentsReply {
  const { chunks, ...reply } = corpusReply(answer);
  return { ...reply, chunks: chunks.map(({ snippet: _, ...chunk }) => chunk) };
}

export function countsReply({ facts, auditRows }: StoredCounts): NonNullable<CorpusReply["unmatched"]> {
  return { facts, audit_rows: auditRows };
}

type Metadata = CorpusReply["chunks"][number]["metadata"];

/** The same with mutable arrays, which zod's types require. */
function plain(metadata: CorpusAnswer["chunks"][number]["metadata"]): Metadata {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [name, typeof value === "object" ? [...value] : value]),
  );
}
