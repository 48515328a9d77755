/**
 * How many requests may be carried out at once, event streams among them.
 *
 * Who attacks: a caller with a token who begins more than it waits for, until nobody else's request finds a connection. What
 * stops it: each caller has a bound, and beyond the bound for all of them an equal share of it. A request counts once it has
 * arrived whole: one whose body comes slowly holds a connection, which is connections.ts's to cut, and nothing here.
 */
import type { MiddlewareHandler } from "hono";
import { HelmdeckError, SharedPlaces, type ShareLimits } from "../../app/index.ts";
import type { ServerEnv } from "../caller.ts";

/** In all less than there are connections for one address, so that there is always room for who is not served yet. */
export const IN_FLIGHT_LIMITS: ShareLimits = { perCaller: 256, total: 384 };

export function limitInFlight(limits: ShareLimits): MiddlewareHandler<ServerEnv> {
  const places = new SharedPlaces(limits);
  return async (c, next) => {
    const giveBack = places.take(c.get("caller").subject);
    if (giveBack === undefined) throw tooMany(limits);
    const outgoing = c.env?.outgoing;
    if (outgoing !== undefined) {
      c.env.connection?.isServing(outgoing);
      // An answer may go on long after it was begun: an event stream.
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
