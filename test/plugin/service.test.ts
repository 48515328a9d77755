import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Memory, MemoryStatus } from "../../app/memory.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { makeService, RECHECK_MS } from "../../plugin/memory-service.ts";
import type { ServiceContext } from "../../plugin/openclaw-api.ts";
import { scheduledJobs } from "../../plugin/scheduler.ts";
import { recordingLogger } from "./fake-host.ts";
import { accessTo, fakeMemory, hanging, READY } from "./fake-memory.ts";

function serviceOver(memory: Memory | Error, subjects: readonly string[] = ["main"]) {
  const log = recordingLogger();
  const health: string[] = [];
  const access = accessTo(memory);
  const service = makeService({ access, log, subjects: () => subjects, deadlineMs: 40 });
  const serviceHealth = {
    reportFailure: (error: unknown) => void health.push(String(error)),
    clearFailure: () => void health.push("clear"),
  };
  // The service reads only this field.
  const context = { serviceHealth } as unknown as ServiceContext;
  return { service, context, log, health };
}

describe("start", () => {
  test("opens memory, reports that it is healthy and warms up every agent's memory", async () => {
    const memory = fakeMemory({ status: async () => READY, warm: async () => {} });
    const { service, context, health, log } = serviceOver(memory, ["main", "work"]);
    await service.start(context);
    expect(health).toEqual(["clear"]);
    expect(memory.calls.map(({ method, args }) => [method, ...args])).toEqual([
      ["status"],
      ["warm", "main"],
      ["warm", "work"],
    ]);
    expect(log.lines).toEqual([]);
  });

  test("provides the gateway's scheduler to other copies of the plugin until it stops", async () => {
    const { service, context } = serviceOver(fakeMemory({ status: async () => READY, warm: async () => {} }));
    const list = vi.fn(async () => [{ id: "job" }]);
    // The service calls only this method.
    const getCron = (() => ({ list })) as unknown as NonNullable<ServiceContext["getCron"]>;
    await service.start({ ...context, getCron });
    expect(await scheduledJobs()).toEqual([{ id: "job" }]);
    expect(list).toHaveBeenCalledWith({ includeDisabled: true });
    await service.stop?.(context);
    expect(await scheduledJobs()).toBeUndefined();
  });

  test("does not wait for the warm-up", async () => {
    const { service, context, health } = serviceOver(
      fakeMemory({ status: async () => READY, warm: hanging }),
    );
    await service.start(context);
    expect(health).toEqual(["clear"]);
  });

  test("a memory that does not open is reported with its error, and nothing is thrown", async () => {
    const error = { code: "key_wrong", message: "The key belongs to another database." } as const;
    const memory = fakeMemory({ status: async () => ({ ...READY, state: "failed", error }) });
    const { service, context, health, log } = serviceOver(memory);
    await service.start(context);
    expect(health).toEqual(["Error: key_wrong: The key belongs to another database."]);
    expect(log.lines).toEqual(["helmdeck memory is off: key_wrong: The key belongs to another database."]);
  });

  test.each([
    ["an unreadable key", new HelmdeckError("key_unreadable", "No key."), "key_unreadable: No key."],
    ["a defect", new Error("s3cr3t"), "internal: Error"],
  ])("%s is reported, with its message only if it is a HelmdeckError", async (_, error, reported) => {
    const { service, context, health } = serviceOver(error);
    await service.start(context);
    expect(health).toEqual([`Error: ${reported}`]);
  });

  test("a memory that hangs does not delay the gateway's start", async () => {
    const { service, context, health } = serviceOver(fakeMemory({ status: hanging }));
    await service.start(context);
    expect(health.join()).toContain("deadline_exceeded");
  });

  test("a failing warm-up is not reported as a failure", async () => {
    const memory = fakeMemory({
      status: async () => READY,
      warm: async () => Promise.reject(new Error("x")),
    });
    const { service, context, health } = serviceOver(memory);
    await service.start(context);
    expect(health).toEqual(["clear"]);
  });

  test("works without a health reporter, and again after a stop", async () => {
    const { service } = serviceOver(fakeMemory({ status: async () => READY, warm: async () => {} }));
    const bare = {} as unknown as ServiceContext; // the service reads nothing else
    await service.start(bare);
    await service.stop?.(bare);
    await service.stop?.(bare);
    await service.start(bare);
  });
});

describe("recovery", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const failed: MemoryStatus = {
    ...READY,
    state: "failed",
    error: { code: "key_missing", message: "No key." },
  };

  /** A memory that gives these answers in order, then repeats the last. */
  function answering(...answers: readonly MemoryStatus[]) {
    let next = 0;
    const status = async () => answers[Math.min(next++, answers.length - 1)] ?? READY;
    return fakeMemory({ status, warm: async () => {} });
  }

  /** Not the number of timers, because other work of this process may have some. */
  async function expectNoCheck(memory: ReturnType<typeof fakeMemory>): Promise<void> {
    const before = memory.calls.length;
    await vi.advanceTimersByTimeAsync(10 * RECHECK_MS);
    expect(memory.calls).toHaveLength(before);
  }

  test("a recovered memory is detected without a restart, and a failing one is logged once", async () => {
    const memory = answering(failed, failed, READY);
    const { service, context, health, log } = serviceOver(memory);
    await service.start(context);
    await vi.advanceTimersByTimeAsync(RECHECK_MS);
    expect(health).toEqual(["Error: key_missing: No key.", "Error: key_missing: No key."]);
    await vi.advanceTimersByTimeAsync(RECHECK_MS);
    expect(health.at(-1)).toBe("clear");
    expect(log.lines).toEqual(["helmdeck memory is off: key_missing: No key."]);
    await service.stop?.(context);
    await expectNoCheck(memory);
  });

  test("a memory that fails while the gateway runs is detected, and warmed up again after its recovery", async () => {
    const replaced: MemoryStatus = {
      ...failed,
      error: { code: "store_replaced", message: "It is gone." },
    };
    const memory = answering(READY, READY, replaced, READY);
    const { service, context, health, log } = serviceOver(memory);
    await service.start(context);
    for (let looks = 0; looks < 3; looks += 1) await vi.advanceTimersByTimeAsync(RECHECK_MS);
    expect(health).toEqual(["clear", "clear", "Error: store_replaced: It is gone.", "clear"]);
    expect(log.lines).toEqual(["helmdeck memory is off: store_replaced: It is gone."]);
    expect(memory.calls.filter(({ method }) => method === "warm")).toHaveLength(2);
    await service.stop?.(context);
    await expectNoCheck(memory);
  });

  test("a host that refuses a report neither fails the start nor ends the checks", async () => {
    const { service, log } = serviceOver(answering(failed, failed, READY));
    const reports: string[] = [];
    const serviceHealth = {
      reportFailure: () => {
        reports.push("failure");
        throw new Error("canary: the service is not running");
      },
      clearFailure: () => void reports.push("clear"),
    };
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const context = { serviceHealth } as unknown as ServiceContext;
    await service.start(context);
    for (let looks = 0; looks < 2; looks += 1) await vi.advanceTimersByTimeAsync(RECHECK_MS);
    vi.useRealTimers();
    await new Promise((resolve) => setImmediate(resolve)); // Node reports unhandled rejections by then
    process.off("unhandledRejection", unhandled);
    await service.stop?.(context);
    expect({ reports, unhandled: unhandled.mock.calls }).toEqual({
      reports: ["failure", "failure", "clear"],
      unhandled: [],
    });
    expect(log.lines.join()).not.toContain("canary");
  });

  test("nothing is checked after a stop", async () => {
    const memory = answering(failed);
    const { service, context } = serviceOver(memory);
    await service.start(context);
    await service.stop?.(context);
    await expectNoCheck(memory);
  });

  test("a stop during opening reports nothing, and nothing is checked later", async () => {
    const memory = answering(failed);
    const { service, context, health } = serviceOver(memory);
    const starting = service.start(context);
    await service.stop?.(context);
    await starting;
    await expectNoCheck(memory);
    expect(health).toEqual([]);
  });
});
