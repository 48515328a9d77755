/**
 * Limits the number of concurrent requests, including event streams.
 *
 * Threat: a caller with a token starts more and more requests until nobody else gets a connection. Defence: each caller has
 * a limit and, when the total limit is reached, an equal share of it. A request counts after it has arrived completely; a
 * slow body only holds a connection, which connections.ts limits.
 */
import type { MiddlewareHandler } from "hono";
import { HelmdeckError } from "../../engine/errors.ts";
import { SharedPlaces, type ShareLimits } from "../../engine/fair-share.ts";
import type { ServerEnv } from "../caller.ts";

/** The total is below the number of connections per address, so that a new client can always connect. */
export const IN_FLIGHT_LIMITS: ShareLimits = { perCaller: 256, total: 384 };

export function limitInFlight(limits: ShareLimits): MiddlewareHandler<ServerEnv> {
  const places = new SharedPlaces(limits);
  return async (c, next) => {
    const giveBack = places.take(c.get("caller").subject);
    if (giveBack === undefined) throw tooMany(limits);
    const outgoing = c.env?.outgoing;
    if (outgoing !== undefined) {
      c.env.connection?.isServing(outgoing);
      // An answer such as an event stream can continue long after it began.
      outgoing.once("prefinish", giveBack).once("close", giveBack);
    }
    try {
      await next();
    } finally {
      if (outgoing === undefined || outgoing.closed) giveBack();
    }
  };
}

function tooMany({ perCaller }: ShareLimits): HelmdeckError {
  return new HelmdeckError(
    "rate_limited",
    `This caller has too many requests in progress; ${perCaller} are allowed, and fewer while others need room. Wait for some to end.`,
    { details: { limit: perCaller } },
  );
}
