/**
 * Counts each caller's requests and refusals since the engine started, for operators.
 *
 * Threat: somebody with many tokens fills the process's memory with counts. Defence: a fixed number of callers is counted; who
 * asked least recently makes room, and an answer tells how many did.
 */
import type { MiddlewareHandler } from "hono";
import type { CallerCount, Memory, RequestCounts } from "../app/memory.ts";
import { ANSWER_LIMITS, requireCount } from "../engine/answer-limits.ts";
import { BoundedMap } from "../engine/bounded-map.ts";
import { defined } from "../engine/defined.ts";
import type { ErrorCode } from "../engine/errors.ts";
import { namespaceOf, type Subject } from "../engine/store/namespace.ts";
import type { ServerEnv } from "./caller.ts";

export const MOST_CALLERS = 10_000;

const REASONS: Partial<Record<ErrorCode, keyof RequestCounts["refused"]>> = {
  ...{ rate_limited: "rate", too_large: "size", quota_exceeded: "limit" },
  ...{ invalid_token: "auth", forbidden: "auth", identity_refused: "auth" },
};

export class CallerCounts {
  readonly #engine: { readonly startedAt: number; dropped: number };
  readonly #counts = new BoundedMap<Subject, RequestCounts>(MOST_CALLERS, {
    onEvict: () => {
      this.#engine.dropped += 1;
    },
  });

  constructor(now: () => number) {
    this.#engine = { startedAt: now(), dropped: 0 };
  }

  /** Each when it is answered. */
  readonly countRequests: MiddlewareHandler<ServerEnv> = async (c, next) => {
    await next();
    const subject = c.get("subject");
    if (subject !== undefined)
      this.count(subject, c.get("failure")?.code ?? (c.res.status === 429 ? "rate_limited" : undefined), 1);
  };

  /** `requests`: 0 for a part of one, such as a call of an MCP tool. */
  count(subject: Subject, refused: ErrorCode | undefined, requests: 0 | 1): void {
    const before = this.#counts.get(subject) ?? {
      requests: 0,
      refused: { rate: 0, size: 0, limit: 0, auth: 0 },
    };
    const reason = refused && REASONS[refused];
    this.#counts.set(subject, {
      requests: before.requests + requests,
      refused: reason ? { ...before.refused, [reason]: before.refused[reason] + 1 } : before.refused,
    });
  }

  /** The use case with what was counted, also of callers without entries. */
  callersOver(memory: Pick<Memory, "callers">): Memory["callers"] {
    return async (of, query = {}) => {
      const limit = requireCount("limit", query.limit, ANSWER_LIMITS.callers);
      const page = await memory.callers(of, query);
      const { cursor } = query;
      const isAsked = (name: Subject) =>
        of === undefined ? cursor === undefined || inOrder(name, cursor) > 0 : name === of;
      const named = new Map<Subject, CallerCount>();
      for (const subject of this.#counts.keys())
        if (isAsked(subject)) named.set(subject, { subject, count: 0, bytes: 0 });
      for (const one of page.callers) named.set(one.subject, one);
      const names = [...named.values()].toSorted((a, b) => inOrder(a.subject, b.subject));
      const callers = names.slice(0, limit).map((one) => ({ ...one, ...this.#counts.get(one.subject) }));
      const hasMore = names.length > limit || page.nextCursor !== undefined;
      const nextCursor = hasMore ? callers.at(-1)?.subject : undefined;
      return { callers, engine: this.#engine, ...defined({ nextCursor }) };
    };
  }
}

/** The store's order. */
function inOrder(left: Subject, right: Subject): number {
  return Buffer.compare(Buffer.from(namespaceOf(left)), Buffer.from(namespaceOf(right)));
}
