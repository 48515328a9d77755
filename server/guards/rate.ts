/**
 * How often who may ask.
 *
 * Who attacks: a client gone wild, and someone who tries tokens or hammers the open routes. What stops them: each caller has
 * a budget per minute; requests that name no valid caller are counted by address. A valid token is never held up by what
 * others at the same address do (behind a container network all clients share one).
 */
import type { Context } from "hono";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { HelmdeckError, isHelmdeckError } from "../../app/index.ts";
import type { Caller, ServerEnv } from "../caller.ts";

const WINDOW_SECONDS = 60;

export interface RateLimits {
  countCaller(caller: Caller): Promise<void>;
  countAddress(c: Context<ServerEnv>): Promise<void>;
  /** Does the work; when it refuses, the address is counted, and refused for a while once that is too often. */
  countingRefusals<Answer>(c: Context<ServerEnv>, work: () => Promise<Answer>): Promise<Answer>;
}

/** `perMinute` requests for each caller, and as many for each address without one; 0: no limit. */
export function makeRateLimits(perMinute: number): RateLimits {
  if (perMinute === 0) return NO_LIMITS;
  const callers = new RateLimiterMemory({ points: perMinute, duration: WINDOW_SECONDS });
  const addresses = new RateLimiterMemory({ points: perMinute, duration: WINDOW_SECONDS });
  const countAddress = (c: Context<ServerEnv>) => consume(addresses, addressOf(c), "this address");
  return {
    countCaller: ({ subject }) => consume(callers, subject, "this caller"),
    countAddress,
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

const NO_LIMITS: RateLimits = {
  countCaller: async () => {},
  countAddress: async () => {},
  countingRefusals: (_c, work) => work(),
};

async function consume(limiter: RateLimiterMemory, who: string, name: string): Promise<void> {
  try {
    await limiter.consume(who);
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    throw tooMany(name, limiter.points, Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000)));
  }
}

function tooMany(who: string, perMinute: number, retryAfterSeconds: number): HelmdeckError {
  return new HelmdeckError(
    "rate_limited",
    `More than ${perMinute} requests a minute from ${who}. Wait ${retryAfterSeconds} s and try again.`,
    { details: { perMinute, retryAfterSeconds } },
  );
}

/** The peer of the connection; a header could say anything. */
function addressOf(c: Context<ServerEnv>): string {
  return c.env?.incoming?.socket.remoteAddress ?? "none";
}
