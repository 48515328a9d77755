/**
 * Starts only a few requests in each turn of the event loop, in order of arrival.
 *
 * Node accepts one new connection per turn (observed with libuv 1.52). If hundreds of requests start in one turn and each
 * reads or writes the store, a turn takes seconds, and a new client waits one turn for each client ahead of it. One request
 * per turn would be fairest, but each turn has a cost.
 */
import type { MiddlewareHandler } from "hono";
import { nextTurn } from "../../engine/timing.ts";
import type { ServerEnv } from "../caller.ts";

export const STARTED_PER_TURN = 8;

export function staggerRequests(): MiddlewareHandler<ServerEnv> {
  let last = Promise.resolve();
  let begun = 0;
  return async (_, next) => {
    if (++begun % STARTED_PER_TURN === 0) last = last.then(nextTurn);
    await last;
    return next();
  };
}
