/**
 * A few requests are begun in each turn of the event loop, in the order of their coming.
 *
 * What is at stake: Node accepts one new connection in a turn (seen with libuv 1.52). With hundreds of requests begun in one turn,
 * each of which reads or writes the store, a turn takes seconds, and whoever connects waits for as many turns as there are others
 * before them. One request for each turn would let them in soonest, and each turn costs time of its own.
 */
import type { MiddlewareHandler } from "hono";
import { nextTurn } from "../../app/index.ts";
import type { ServerEnv } from "../caller.ts";

export const BEGUN_IN_A_TURN = 8;

export function inTurn(): MiddlewareHandler<ServerEnv> {
  let last = Promise.resolve();
  let begun = 0;
  return async (_, next) => {
    if (++begun % BEGUN_IN_A_TURN === 0) last = last.then(nextTurn);
    await last;
    return next();
  };
}
