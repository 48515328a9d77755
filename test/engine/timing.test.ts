/** Deadlines, signals and pauses, with a fake clock. */
import { describe, expect, test } from "vitest";
import { HelmdeckError } from "../../engine/errors.ts";
import { openLimits, orAborted, pauseAfter, retryAfterMsOf, sleep, within } from "../../engine/timing.ts";
import { FakeClock } from "../sidecar/fake-clock.ts";

const never = () => new Promise<never>(() => {});
const failed = (code: "cancelled" | "deadline_exceeded") => new HelmdeckError(code, "Ended.");

describe("work within a limit", () => {
  test("that finishes in time returns its result, and leaves no timer behind", async () => {
    const clock = new FakeClock();
    expect(await within(100, Promise.resolve("done"), () => "late", clock.timer)).toBe("done");
    await expect(
      within(100, Promise.reject(failed("cancelled")), () => "late", clock.timer),
    ).rejects.toThrow();
    expect(clock.pending).toEqual([]);
  });

  test("that takes longer returns or throws the caller's alternative exactly at the limit", async () => {
    const clock = new FakeClock();
    const ends: unknown[] = [];
    void within(100, never(), () => "late", clock.timer).then((end) => ends.push(end));
    clock.advance(99);
    await Promise.resolve();
    expect(ends).toEqual([]);
    const throwing = () => {
      throw failed("deadline_exceeded");
    };
    const refused = within(1, never(), throwing, clock.timer);
    clock.advance(1);
    await expect(refused).rejects.toMatchObject({ code: "deadline_exceeded" });
    expect(ends).toEqual(["late"]);
  });
});

test("a limit that has passed already ends the work, without a warning of Node's on standard error", async () => {
  const warned: Error[] = [];
  const hear = (warning: Error) => warned.push(warning);
  process.on("warning", hear);
  expect(await within(-10, never(), () => "late")).toBe("late");
  process.off("warning", hear);
  expect(warned).toEqual([]);
});

describe("limits", () => {
  test("end the work at the deadline, for another signal, or on request, whichever is first", () => {
    for (const first of ["deadline_exceeded", "cancelled", "internal"] as const) {
      const clock = new FakeClock();
      const caller = new AbortController();
      const { signal, abort } = openLimits({
        timer: clock.timer,
        deadlineMs: 50,
        tooLate: (deadlineMs) => new HelmdeckError("deadline_exceeded", "Late.", { details: { deadlineMs } }),
        until: [[caller.signal, () => failed("cancelled")]],
      });
      const ends = {
        deadline_exceeded: () => clock.advance(50),
        cancelled: () => caller.abort(),
        internal: () => abort(new HelmdeckError("internal", "Told.")),
      };
      ends[first]();
      for (const end of Object.values(ends)) end();
      expect(signal.reason).toMatchObject({ code: first });
    }
  });

  test("that are released do not end the work, and a signal that has already fired ends it at once", () => {
    const clock = new FakeClock();
    const caller = new AbortController();
    const until = [[caller.signal, () => failed("cancelled")] as const];
    const options = { timer: clock.timer, deadlineMs: 50, tooLate: () => failed("deadline_exceeded"), until };
    const released = openLimits(options);
    released.release();
    caller.abort();
    clock.advance(50);
    expect(released.signal.aborted).toBe(false);
    expect(openLimits(options).signal.reason).toMatchObject({ code: "cancelled" });
  });
});

describe("work under a signal", () => {
  test("is abandoned at once, or after a grace period in which it may still finish", async () => {
    const clock = new FakeClock();
    const grace = { timer: clock.timer, graceMs: 100 };
    const { promise, resolve } = Promise.withResolvers<string>();
    const signal = AbortSignal.abort(failed("cancelled"));
    await expect(orAborted(never(), signal)).rejects.toMatchObject({ code: "cancelled" });
    const [patient, left] = [orAborted(promise, signal, grace), orAborted(never(), signal, grace)];
    resolve("done");
    expect(await patient).toBe("done");
    clock.advance(100);
    await expect(left).rejects.toMatchObject({ code: "cancelled" });
  });

  test("ends its pause when the signal fires", async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const [asleep, slept] = [
      sleep(clock.timer, 100, controller.signal),
      sleep(clock.timer, 1, controller.signal),
    ];
    clock.advance(1);
    await slept;
    controller.abort(failed("cancelled"));
    await expect(asleep).rejects.toMatchObject({ code: "cancelled" });
    expect(clock.pending).toEqual([]);
  });
});

test("pauses double from the first to the longest", () => {
  const pauses = { firstMs: 250, longestMs: 1_500 };
  expect([1, 2, 3, 4, 5, 2_000].map((failures) => pauseAfter(failures, pauses))).toEqual([
    250, 500, 1_000, 1_500, 1_500, 1_500,
  ]);
});

test("a failure may request a longer pause", () => {
  const busy = new HelmdeckError("rate_limited", "Busy.", { details: { retryAfterMs: 70 } });
  expect([busy, failed("cancelled"), new Error("x")].map(retryAfterMsOf)).toEqual([70, 0, 0]);
});
