/** The pauses between attempts and the circuit breaker, with a fake clock. */
import { beforeEach, describe, expect, it } from "vitest";
import { HelmdeckError } from "../../engine/errors.ts";
import type { Timer } from "../../engine/timing.ts";
import { CircuitBreaker } from "../../sidecar/circuit-breaker.ts";
import { FakeClock } from "./fake-clock.ts";

class Down extends Error {}
class Refused extends Error {}

let clock: FakeClock;
let breaker: CircuitBreaker;
let asked: number;

const run = <T>(work: () => Promise<T>) => breaker.run(work, { signal: new AbortController().signal });
const succeed = () => run(async () => asked++);
const fail = () =>
  run(async () => {
    asked++;
    throw new Down();
  });

async function failTimes(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await expect(fail()).rejects.toThrow(Down);
}

beforeEach(() => {
  asked = 0;
  clock = new FakeClock();
  breaker = new CircuitBreaker({
    clock,
    random: Math.random,
    isFailure: (error) => error instanceof Down,
    refusal: () => new Refused(),
    failuresToOpen: 3,
    pauses: { firstMs: 1_000, longestMs: 3_000 },
  });
});

it("the circuit stays closed if failures alternate with successes", async () => {
  await failTimes(2);
  await succeed();
  await failTimes(2);
  expect(breaker.state).toBe("closed");
});

describe("an open circuit", () => {
  beforeEach(() => failTimes(3));

  it("lets one probe through at a time", async () => {
    clock.advance(1_000);
    const probe = Promise.withResolvers<void>();
    const probing = run(() => probe.promise);
    await expect(succeed()).rejects.toThrow(Refused);
    probe.resolve();
    await probing;
    await succeed();
  });

  it("waits twice as long after each failed probe, up to a limit, and starts over after a success", async () => {
    for (const pauseMs of [1_000, 2_000, 3_000, 3_000]) {
      clock.advance(pauseMs - 1);
      await expect(fail()).rejects.toThrow(Refused);
      clock.advance(1);
      await expect(fail()).rejects.toThrow(Down);
    }
    clock.advance(3_000);
    await succeed();
    await failTimes(3);
    clock.advance(1_000);
    await succeed();
  });

  it("probes again at once when the probe was aborted for other reasons", async () => {
    clock.advance(1_000);
    await expect(run(() => Promise.reject(new TypeError()))).rejects.toThrow(TypeError);
    expect(breaker.state).toBe("half_open");
    await succeed();
    expect(breaker.state).toBe("closed");
  });

  it("closes when another caller saw the service work", async () => {
    breaker.close();
    await succeed();
    expect(breaker.state).toBe("closed");
  });

  it("does not stay open longer for an earlier call", async () => {
    clock.advance(1_000);
    await succeed();
    const late = Promise.withResolvers<void>();
    const before = run(() => late.promise);
    await failTimes(3);
    clock.advance(500);
    late.reject(new Down());
    await expect(before).rejects.toThrow(Down);
    clock.advance(500);
    expect(breaker.state).toBe("half_open");
  });
});

describe("the pause between attempts", () => {
  const busy = (details = {}) =>
    new HelmdeckError("embeddings_unavailable", "Busy.", { details: { passing: true, ...details } });

  function failing(timer: Timer, random: number, error: HelmdeckError, signal: AbortSignal) {
    const parts = { isFailure: () => true, refusal: () => new Refused() };
    const retrying = new CircuitBreaker({ ...parts, clock: { now: () => 0, timer }, random: () => random });
    return retrying.run(() => Promise.reject(error), { signal });
  }

  it.each<[number, object, readonly number[]]>([
    [0, {}, [0, 0]],
    [0.5, {}, [125, 250]],
    [0.999, {}, [249.75, 499.5]],
    [0, { retryAfterMs: 2_000 }, [2_000, 2_000]],
    [0.5, { retryAfterMs: 2_000 }, [2_125, 2_250]],
  ])("with %d and what the service requests (%j) is %j", async (random, details, pausesMs) => {
    const seen: number[] = [];
    const timer: Timer = (action, delayMs) => {
      seen.push(delayMs);
      return clock.timer(action, 0);
    };
    const error = busy(details);
    await expect(failing(timer, random, error, new AbortController().signal)).rejects.toBe(error);
    expect(seen).toEqual(pausesMs);
  });

  it("ends when the caller aborts", async () => {
    const controller = new AbortController();
    const retrying = failing(clock.timer, 0.5, busy(), controller.signal);
    await clock.alarmIn(125);
    controller.abort(new Error("gone"));
    await expect(retrying).rejects.toThrow("gone");
    expect(clock.pending).toEqual([]);
  });
});
