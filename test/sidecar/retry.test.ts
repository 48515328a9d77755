/** The pauses between attempts, with a fake clock. */
import { expect, it } from "vitest";
import { HelmdeckError } from "../../engine/errors.ts";
import type { Timer } from "../../engine/timing.ts";
import { withRetry } from "../../sidecar/retry.ts";
import { FakeClock } from "./fake-clock.ts";

const busy = (details = {}) =>
  new HelmdeckError("embeddings_unavailable", "Busy.", { details: { passing: true, ...details } });

/** The pauses before the second and third attempt. */
async function pauses(random: number, error: HelmdeckError): Promise<readonly number[]> {
  const clock = new FakeClock();
  const pausesMs: number[] = [];
  const timer: Timer = (action, delayMs) => {
    pausesMs.push(delayMs);
    return clock.timer(action, 0);
  };
  const options = { timer, random: () => random, signal: new AbortController().signal };
  await expect(withRetry(options, () => Promise.reject(error))).rejects.toBe(error);
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
  const options = { timer: clock.timer, random: () => 0.5, signal: controller.signal };
  const retrying = withRetry(options, () => Promise.reject(busy()));
  await clock.alarmIn(125);
  controller.abort(new Error("gone"));
  await expect(retrying).rejects.toThrow("gone");
  expect(clock.pending).toEqual([]);
});
