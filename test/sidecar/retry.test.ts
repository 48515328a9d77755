/** The pauses between attempts, with a fake clock. */
import { expect, it } from "vitest";
import { HelmdeckError } from "../../engine/errors.ts";
import type { Timer } from "../../engine/timing.ts";
import { CircuitBreaker } from "../../sidecar/circuit-breaker.ts";
import { FakeClock } from "./fake-clock.ts";

const busy = (details = {}) =>
  new HelmdeckError("embeddings_unavailable", "Busy.", { details: { passing: true, ...details } });

const breakerOf = (timer: Timer, random: number) =>
  new CircuitBreaker({
    clock: { now: () => 0, timer },
    random: () => random,
    isFailure: () => true,
    refusal: () => new Error("refused"),
  });

/** The pauses before the second and third attempt. */
async function pauses(random: number, error: HelmdeckError): Promise<readonly number[]> {
  const clock = new FakeClock();
  const pausesMs: number[] = [];
  const timer: Timer = (action, delayMs) => {
    pausesMs.push(delayMs);
    return clock.timer(action, 0);
  };
  const { signal } = new AbortController();
  await expect(breakerOf(timer, random).run(() => Promise.reject(error), { signal })).rejects.toBe(error);
  return pausesMs;
}

it("is random up to a limit that doubles", async () => {
  expect(await pauses(0, busy())).toEqual([0, 0]);
  expect(await pauses(0.5, busy())).toEqual([125, 250]);
  expect(await pauses(0.999, busy())).toEqual([249.75, 499.5]);
});

it("is at least what the service requests, and differs between clients", async () => {
  expect(await pauses(0, busy({ retryAfterMs: 2_000 }))).toEqual([2_000, 2_000]);
  expect(await pauses(0.5, busy({ retryAfterMs: 2_000 }))).toEqual([2_125, 2_250]);
});

it("ends when the caller aborts", async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  const { signal } = controller;
  const retrying = breakerOf(clock.timer, 0.5).run(() => Promise.reject(busy()), { signal });
  await clock.alarmIn(125);
  controller.abort(new Error("gone"));
  await expect(retrying).rejects.toThrow("gone");
  expect(clock.pending).toEqual([]);
});
