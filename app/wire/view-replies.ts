/** Replies with facts, my-memory and callers, the same on every surface. */
import { defined, type ExpiringFacts, rfc3339, type Writer } from "../../engine/index.ts";
import type { CallerCount, FactsPage, FactsQuery, FactView, MyMemory } from "../memory.ts";
import type { CallersReply, FactReply, FactsReply, FactsRequest, MyMemoryReply } from "./view-schemas.ts";

/** `soonest_first`: for pages over REST; a model needs no such order. */
export function factsQueryOfRequest({
  soonest_first,
  ...request
}: FactsRequest & { readonly soonest_first?: boolean | undefined }): FactsQuery {
  const { prefix, category, tag, expiring, limit, cursor } = request;
  return {
    ...defined({
      prefix: prefix ?? undefined,
      category: category ?? undefined,
      tag: tag ?? undefined,
      expiring: expiring ?? undefined,
      soonestFirst: soonest_first ?? undefined,
      limit: limit ?? undefined,
      cursor: cursor ?? undefined,
    }),
  };
}

export function factReply({ tags, createdAt, updatedAt, expiresAt, writer, ...fact }: FactView): FactReply {
  return {
    ...fact,
    tags: [...tags],
    created_at: rfc3339(createdAt),
    updated_at: rfc3339(updatedAt),
    ...(expiresAt !== undefined && { expires_at: rfc3339(expiresAt) }),
    ...(writer && { writer: writerReply(writer) }),
  };
}

export function writerReply({ surface, agent, sessionKind }: Writer): NonNullable<FactReply["writer"]> {
  return { surface, ...defined({ agent, session_kind: sessionKind }) };
}

export function factsReply({ facts, unreadable, nextCursor }: FactsPage): FactsReply {
  return {
    facts: facts.map(factReply),
    unreadable: [...unreadable],
    ...defined({ next_cursor: nextCursor }),
  };
}

export function expiringReply({ count, soonest }: ExpiringFacts) {
  return {
    count,
    soonest: soonest.map(({ expiresAt, ...fact }) => ({ ...fact, expires_at: rfc3339(expiresAt) })),
  };
}

export function myMemoryReply({ scope, fetchedAt, categories, expiring, note }: MyMemory): MyMemoryReply {
  return {
    scope,
    fetched_at: rfc3339(fetchedAt),
    categories: categories.map(({ name, count, recentKeys }) => ({
      name,
      count,
      recent_keys: [...recentKeys],
    })),
    ...(expiring && { expiring: expiringReply(expiring) }),
    ...defined({ note }),
  };
}

export function callersReply(callers: readonly CallerCount[]): CallersReply {
  return { callers: callers.map(({ subject, count }) => ({ namespace: subject, count })) };
}
