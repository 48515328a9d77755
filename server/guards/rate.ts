/**
 * Rate limits.
 *
 * Threat: a client out of control, or somebody who guesses tokens or floods the open routes. Defence: each caller has a budget
 * per minute; requests without a valid caller count against their address. A valid token is never slowed down by other
 * clients at the same address (in a container network all clients share one), not even on the open routes. After an address
 * has used its budget, its requests without a token are refused before any other check.
 */
import type { Context, MiddlewareHandler } from "hono";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { HelmdeckError, isHelmdeckError } from "../../engine/errors.ts";
import { SharedPlaces, type ShareLimits } from "../../engine/fair-share.ts";
import { nextTurn } from "../../engine/timing.ts";
import type { Caller, ServerEnv } from "../caller.ts";
import { peerOf } from "../connections.ts";

const WINDOW_SECONDS = 60;

export interface RateLimits {
  countCaller(caller: Caller): Promise<void>;
  countAddress(c: Context<ServerEnv>): Promise<void>;
  /** Runs the work. If it refuses, this counts against the address, which is blocked for a while after too many refusals. */
  countingRefusals<Answer>(c: Context<ServerEnv>, work: () => Promise<Answer>): Promise<Answer>;
  /** The refusal for a further request without a caller from this address; undefined while budget is left. */
  refusalOf(remoteAddress: string | undefined): HelmdeckError | undefined;
}

/** `perMinute`: asked for each request, with its caller if there is one; 0: no limit. */
export function makeRateLimits(perMinute: (caller?: string) => number): RateLimits {
  const callers = makeCounter();
  const addresses = makeCounter();
  const exhausted = new Exhausted();
  const countAddress = async (c: Context<ServerEnv>) => {
    const address = peerOf(c.env?.incoming?.socket.remoteAddress);
    const waitMs = await consume(addresses, address, perMinute());
    if (waitMs === undefined) return;
    exhausted.add(address, waitMs);
    // A flooding client must open a new connection each time.
    c.header("Connection", "close");
    throw tooMany("this address", perMinute(), waitMs);
  };
  return {
    countCaller: async ({ subject }) => {
      const most = perMinute(subject);
      const waitMs = await consume(callers, subject, most);
      if (waitMs !== undefined) throw tooMany("this caller", most, waitMs);
    },
    countAddress,
    refusalOf: (remoteAddress) => {
      const waitMs = exhausted.waitMs(peerOf(remoteAddress));
      return waitMs > 0 && perMinute() > 0 ? tooMany("this address", perMinute(), waitMs) : undefined;
    },
    countingRefusals: async (c, work) => {
      try {
        return await work();
      } catch (error) {
        if (isHelmdeckError(error)) await countAddress(c);
        throw error;
      }
    },
  };
}

/** Only counts: the limit may change within a minute. */
function makeCounter(): RateLimiterMemory {
  return new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS });
}

/** Addresses without budget left, and until when. Each has sent a full budget of requests, so there are few. */
class Exhausted {
  readonly #untilMs = new Map<string, number>();

  add(address: string, waitMs: number): void {
    const now = performance.now();
    for (const [other, untilMs] of this.#untilMs) if (untilMs <= now) this.#untilMs.delete(other);
    this.#untilMs.set(address, now + waitMs);
  }

  waitMs(address: string): number {
    return (this.#untilMs.get(address) ?? 0) - performance.now();
  }
}

/** How long to wait; undefined if there was budget left. */
async function consume(counter: RateLimiterMemory, who: string, most: number): Promise<number | undefined> {
  if (most === 0) return undefined;
  const { consumedPoints, msBeforeNext } = await counter.consume(who);
  return consumedPoints > most ? msBeforeNext : undefined;
}

function tooMany(who: string, perMinute: number, waitMs: number): HelmdeckError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new HelmdeckError(
    "rate_limited",
    `More than ${perMinute} requests a minute from ${who}. Wait ${retryAfterSeconds} s and try again.`,
    { details: { perMinute, retryAfterSeconds } },
  );
}

/** The total is below the number of connections per address, so that a new client can always connect. */
export const IN_FLIGHT_LIMITS: ShareLimits = { perCaller: 256, total: 384 };

/**
 * Limits the number of concurrent requests, including event streams.
 *
 * Threat: a caller with a token starts more and more requests until nobody else gets a connection. Defence: each caller has
 * a limit and, when the total limit is reached, an equal share of it. A request counts after it has arrived completely; a
 * slow body only holds a connection, which connections.ts limits.
 */
export function limitInFlight(limits: ShareLimits): MiddlewareHandler<ServerEnv> {
  const places = new SharedPlaces(limits);
  return async (c, next) => {
    const giveBack = places.take(c.get("caller").subject);
    if (giveBack === undefined)
      throw new HelmdeckError(
        "rate_limited",
        `This caller has too many requests in progress; ${limits.perCaller} are allowed, and fewer while others need room. Wait for some to end.`,
        { details: { limit: limits.perCaller } },
      );
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

export const STARTED_PER_TURN = 8;

/**
 * Starts only a few requests in each turn of the event loop, in order of arrival.
 *
 * Node accepts one new connection per turn (observed with libuv 1.52). If hundreds of requests start in one turn and each
 * reads or writes the store, a turn takes seconds, and a new client waits one turn for each client ahead of it. One request
 * per turn would be fairest, but each turn has a cost.
 */
export function staggerRequests(): MiddlewareHandler<ServerEnv> {
  let last = Promise.resolve();
  let begun = 0;
  return async (_, next) => {
    if (++begun % STARTED_PER_TURN === 0) last = last.then(nextTurn);
    await last;
    return next();
  };
}
