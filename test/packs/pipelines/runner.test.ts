/** Pipeline runs: in the background, each visible only to its caller, and with one audit row however they end. */
import { describe, expect, test } from "vitest";
import type { PipelineAudit } from "../../../engine/audit/audit-rows.ts";
import { HelmdeckError } from "../../../engine/errors.ts";
import type { Subject } from "../../../engine/store/namespace.ts";
import type { PackInfo, PackRequest, PackRun } from "../../../packs/engine/pack-contract.ts";
import type { Pipeline } from "../../../packs/pipelines/pipeline-contract.ts";
import {
  createPipelineRunner,
  type PipelineRunnerOptions,
  RUN_LIMITS,
} from "../../../packs/pipelines/pipeline-runner.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const t = (expression: string) => `\${{ ${expression} }}`;

type Handler = (input: unknown, request: PackRequest) => unknown;

/** Packs with these handlers. */
function packsOf(handlers: Readonly<Record<string, Handler>>, starters: readonly string[] = []) {
  const requests: PackRequest[] = [];
  return {
    requests,
    list: () =>
      Object.keys(handlers).map(
        (name): PackInfo => ({
          name,
          title: name,
          version: "1.0.0",
          description: "a pack",
          inputSchema: {},
          outputSchema: {},
          startsProcess: starters.includes(name),
          cached: false,
        }),
      ),
    run: async (request: PackRequest): Promise<PackRun> => {
      requests.push(request);
      const output = await handlers[request.pack]?.(request.input, request);
      return { pack: request.pack, version: "1.0.0", output, artifacts: [], durationMs: 1, cached: false };
    },
  };
}

const TWO_STEPS: Pipeline = {
  id: "two",
  description: "Two steps.",
  inputs: {
    word: { required: true },
    theme: { required: false, default: "dark" },
    note: { required: false },
  },
  steps: [
    { id: "first", pack: "say", with: { word: t("inputs.word"), note: t("inputs.note") } },
    { id: "second", pack: "say", with: { word: `${t("steps.first.output.said")}, again` } },
  ],
};

const say: Handler = (input) => ({ said: (input as { word: string }).word });

function rigOf(
  handlers: Readonly<Record<string, Handler>>,
  pipelines: readonly Pipeline[] = [TWO_STEPS],
  options: Partial<PipelineRunnerOptions> & { readonly starters?: readonly string[] } = {},
) {
  const packs = packsOf(handlers, options.starters);
  const rows: { readonly caller: Subject; readonly row: PipelineAudit }[] = [];
  const clock = { ms: 0 };
  let ids = 0;
  const runner = createPipelineRunner({
    pipelines,
    packs,
    record: async (caller, row) => {
      rows.push({ caller, row });
    },
    now: () => NOW,
    clock: () => clock.ms,
    makeRunId: () => `run_${++ids}`,
    ...options,
  });
  /** A run of the pipeline "two", when it has ended. */
  const ended = async (inputs: unknown, more: object = {}) => {
    const { runId } = await runner.start(request(inputs, more));
    return runner.ended(request(inputs, more).caller, runId);
  };
  return { runner, packs, rows, clock, ended };
}

const request = (inputs: unknown, more: object = {}) => ({
  pipeline: "two",
  inputs,
  caller: "ana",
  authenticated: true,
  ...more,
});

/** A handler that waits until it is released or cancelled. */
function gate() {
  const entered = Promise.withResolvers<void>();
  const open = Promise.withResolvers<unknown>();
  const handler: Handler = (_, { signal }) => {
    entered.resolve();
    signal?.addEventListener("abort", () =>
      open.reject(new HelmdeckError("cancelled", "The run was cancelled.")),
    );
    return open.promise;
  };
  return { handler, entered: entered.promise, open: open.resolve };
}

const ONE_STEP: Pipeline = {
  id: "two",
  description: "d",
  inputs: {},
  steps: [{ id: "s", pack: "wait", with: {} }],
};

describe("a run", () => {
  test("runs each step with its input for the caller, and returns the last step's output", async () => {
    const { runner, packs, rows, clock } = rigOf({
      say: (...given) => {
        clock.ms += 20;
        return say(...given);
      },
    });
    const started = await runner.start(request({ word: "hello" }));
    expect(started).toMatchObject({ runId: "run_1", pipeline: "two", state: "running", startedAt: NOW });
    expect(await runner.ended("ana", "run_1")).toEqual({
      runId: "run_1",
      pipeline: "two",
      state: "succeeded",
      startedAt: NOW,
      durationMs: 40,
      steps: [
        { id: "first", pack: "say", state: "succeeded", durationMs: 20 },
        { id: "second", pack: "say", state: "succeeded", durationMs: 20 },
      ],
      output: { said: "hello, again" },
    });
    expect(packs.requests.map(({ input }) => input)).toEqual([{ word: "hello" }, { word: "hello, again" }]);
    for (const { caller, authenticated } of packs.requests)
      expect([caller, authenticated]).toEqual(["ana", true]);
    expect(rows).toEqual([
      {
        caller: "ana",
        row: {
          pipeline: "two",
          run_id: "run_1",
          outcome: "succeeded",
          at_unix: NOW / 1_000,
          duration_ms: 40,
          learn_inputs: { theme: "dark" },
        },
      },
    ]);
  });

  test("reports its progress over all steps, and nothing after its end", async () => {
    const stray = Promise.withResolvers<NonNullable<PackRequest["onProgress"]>>();
    const { runner } = rigOf({
      say: (input, { onProgress = () => {} }) => {
        onProgress(0.5, "half");
        stray.resolve(onProgress);
        return say(input, {} as PackRequest);
      },
    });
    const told: unknown[] = [];
    const onProgress = (...step: unknown[]) => {
      told.push(step);
      throw new Error("a listener that fails"); // an error of a listener never fails the run
    };
    await runner.start(request({ word: "hello" }, { onProgress }));
    expect(await runner.ended("ana", "run_1")).toMatchObject({ state: "succeeded" });
    (await stray.promise)(1, "too late");
    expect(told).toEqual([
      [0, "first"],
      [0.25, "first: half"],
      [0.5, "second"],
      [0.75, "second: half"],
    ]);
  });

  test("returns what the pipeline's output defines", async () => {
    const output = { both: [t("steps.first.output.said"), t("inputs.theme")] };
    const { ended } = rigOf({ say }, [{ ...TWO_STEPS, output }]);
    expect((await ended({ word: "a", theme: "light" })).output).toEqual({ both: ["a", "light"] });
  });

  test("stops at the first step that fails, and gives the reason", async () => {
    const failing: Handler = () => {
      throw new HelmdeckError("upstream_failed", "api.github.com answered 500.");
    };
    const { ended, packs, rows } = rigOf({ say: failing });
    const error = { code: "upstream_failed", message: "api.github.com answered 500." };
    expect(await ended({ word: "x" })).toMatchObject({
      state: "failed",
      error,
      steps: [
        { id: "first", state: "failed", error },
        { id: "second", state: "waiting" },
      ],
    });
    expect(packs.requests).toHaveLength(1);
    expect(rows.map(({ row }) => row.outcome)).toEqual(["failed"]);
  });

  test("fails if a template names a missing part of an answer, and hides the text of an unexpected error", async () => {
    const empty = rigOf({ say: () => ({}) });
    expect((await empty.ended({ word: "x" })).error).toEqual({
      code: "invalid_input",
      message: "There is no steps.first.output.said in this run.",
    });
    const leaking = rigOf({
      say: () => {
        throw new Error("token=hunter2");
      },
    });
    const { error } = await leaking.ended({ word: "x" });
    expect(error).toMatchObject({ code: "internal", message: expect.not.stringContaining("hunter2") });
  });

  test("fails if its answer is too large to keep", async () => {
    const { ended } = rigOf({ say: () => ({ said: "x".repeat(300_000) }) });
    expect((await ended({ word: "x" })).error?.code).toBe("too_large");
  });

  test("keeps its outcome if its row cannot be written, and reports that failure", async () => {
    const failures: unknown[] = [];
    const { ended } = rigOf({ say }, [TWO_STEPS], {
      record: async () => {
        throw new HelmdeckError("memory_unavailable", "No memory.");
      },
      onRecordFailure: (error) => failures.push(error),
    });
    expect((await ended({ word: "x" })).state).toBe("succeeded");
    expect(failures).toMatchObject([{ code: "memory_unavailable" }]);
  });
});

describe("cancelling", () => {
  test("cancels the running pack, starts no further step, and leaves one row", async () => {
    const { handler, entered } = gate();
    const { runner, packs, rows } = rigOf({ say: handler });
    await runner.start(request({ word: "x" }));
    await entered;
    expect(await runner.cancel("ana", "run_1")).toMatchObject({
      state: "cancelled",
      steps: [{ state: "cancelled" }, { state: "waiting" }],
      error: { code: "cancelled" },
    });
    expect(packs.requests).toHaveLength(1);
    expect(rows.map(({ row }) => row.outcome)).toEqual(["cancelled"]);
  });

  test("starts no further step also if the pack ignores the signal", async () => {
    const { handler, entered, open } = gate();
    const { runner, packs } = rigOf({ say: (input) => handler(input, {} as PackRequest) });
    await runner.start(request({ word: "x" }));
    await entered;
    const cancelling = runner.cancel("ana", "run_1");
    open({ said: "done all the same" });
    expect(await cancelling).toMatchObject({
      state: "cancelled",
      steps: [{ state: "succeeded" }, { state: "waiting" }],
    });
    expect(packs.requests).toHaveLength(1);
  });

  test("by the closing engine also ends the run as cancelled", async () => {
    const closing: Handler = () => {
      throw new HelmdeckError("cancelled", "This server is shutting down.");
    };
    const { ended, rows } = rigOf({ say: closing });
    expect(await ended({ word: "x" })).toMatchObject({
      state: "cancelled",
      steps: [{ state: "cancelled" }, {}],
    });
    expect(rows.map(({ row }) => row.outcome)).toEqual(["cancelled"]);
  });

  test("changes nothing in a run that has ended", async () => {
    const { runner, ended, rows } = rigOf({ say });
    const run = await ended({ word: "x" });
    expect(await runner.cancel("ana", "run_1")).toEqual(run);
    expect(rows).toHaveLength(1);
  });
});

describe("of two callers", () => {
  test("neither sees, awaits or cancels the other's run, and gets not_found", async () => {
    const { handler, entered, open } = gate();
    const { runner } = rigOf({ wait: handler }, [ONE_STEP]);
    await runner.start(request({}));
    await entered;
    for (const stranger of ["ben", "Ana", "ana:run_1", ""]) {
      expect(runner.get(stranger, "run_1")).toBeUndefined();
      const missing = { code: "not_found", message: expect.stringContaining("You have no such run") };
      await expect(runner.ended(stranger, "run_1")).rejects.toMatchObject(missing);
      await expect(runner.cancel(stranger, "run_1")).rejects.toMatchObject(missing);
      await expect(runner.cancel(stranger, "run_2")).rejects.toMatchObject(missing);
    }
    expect(runner.get("ana", "run_1")).toMatchObject({ state: "running" });
    open({});
    expect((await runner.ended("ana", "run_1")).state).toBe("succeeded");
  });

  test("one at the limit of running runs does not keep the other from starting", async () => {
    const { handler, open } = gate();
    const { runner } = rigOf({ wait: handler }, [ONE_STEP]);
    for (let i = 0; i < RUN_LIMITS.underWayPerCaller; i++) await runner.start(request({}));
    await expect(runner.start(request({}))).rejects.toMatchObject({ code: "rate_limited" });
    expect(await runner.start(request({}, { caller: "ben" }))).toMatchObject({ state: "running" });
    open({});
    await runner.ended("ana", "run_1");
    expect(await runner.start(request({}))).toMatchObject({ state: "running" });
  });

  test("many at the total limit of running runs do not keep another from starting", async () => {
    const { handler, open } = gate();
    const { runner } = rigOf({ wait: handler }, [ONE_STEP]);
    const callers = RUN_LIMITS.underWay / RUN_LIMITS.underWayPerCaller;
    for (let i = 0; i < RUN_LIMITS.underWay; i++)
      await runner.start(request({}, { caller: `c${i % callers}` }));
    expect(await runner.start(request({}, { caller: "ben" }))).toMatchObject({ state: "running" });
    await expect(runner.start(request({}, { caller: "c0" }))).rejects.toMatchObject({ code: "rate_limited" });
    open({});
    await runner.ended("ben", `run_${RUN_LIMITS.underWay + 1}`);
  });

  test("many with many runs do not push out another's ended run", async () => {
    const { runner, ended } = rigOf({ wait: () => ({}) }, [ONE_STEP]);
    await ended({}, { caller: "ben" });
    for (let i = 2; i <= 12 * RUN_LIMITS.keptPerCaller; i++) await ended({}, { caller: `c${i % 12}` });
    expect(runner.get("ben", "run_1")).toBeDefined();
  });

  test("one with many runs does not push out the other's ended run", async () => {
    const { runner, ended } = rigOf({ wait: () => ({}) }, [ONE_STEP]);
    await ended({}, { caller: "ben" });
    for (let i = 2; i <= RUN_LIMITS.keptPerCaller + 5; i++) await ended({});
    expect(runner.get("ben", "run_1")).toBeDefined();
    expect(runner.get("ana", "run_2")).toBeUndefined();
    expect(runner.get("ana", `run_${RUN_LIMITS.keptPerCaller + 5}`)).toBeDefined();
  });
});

test("ended runs are kept for an hour, running ones until they end", async () => {
  const { handler, open } = gate();
  const { runner, clock } = rigOf({ wait: handler, say: () => ({}) }, [
    ONE_STEP,
    { ...ONE_STEP, id: "quick", steps: [{ id: "s", pack: "say", with: {} }] },
  ]);
  await runner.start(request({}));
  await runner.start(request({}, { pipeline: "quick" }));
  await runner.ended("ana", "run_2");
  clock.ms += RUN_LIMITS.keptMs - 1;
  expect(runner.get("ana", "run_2")).toBeDefined();
  clock.ms += 1;
  expect(runner.get("ana", "run_2")).toBeUndefined();
  expect(runner.get("ana", "run_1")).toMatchObject({ state: "running" });
  open({});
  await runner.ended("ana", "run_1");
});

describe("a start is refused, and nothing runs,", () => {
  const REFUSED: readonly (readonly [string, unknown, object, string])[] = [
    ["for an unknown pipeline", {}, { pipeline: "nope" }, "not_found"],
    ["for a pipeline named like a prototype's property", {}, { pipeline: "constructor" }, "not_found"],
    ["without a required input", {}, {}, "invalid_input"],
    ["with null for a required input", { word: null }, {}, "invalid_input"],
    ["with an unknown input", { word: "x", nope: 1 }, {}, "invalid_input"],
    ["with a prototype's property as an input", { word: "x", constructor: 1 }, {}, "invalid_input"],
    ["with inputs that are a list", ["x"], {}, "invalid_input"],
    ["with inputs that are text", "word", {}, "invalid_input"],
    [
      "without authentication, when a step starts a process",
      { word: "x" },
      { authenticated: false },
      "forbidden",
    ],
  ];
  test.each(REFUSED)("%s", async (_, inputs, more, code) => {
    const { runner, packs, rows } = rigOf({ say }, [TWO_STEPS], { starters: ["say"] });
    await expect(runner.start(request(inputs, more))).rejects.toMatchObject({ code });
    expect([packs.requests, rows]).toEqual([[], []]);
  });
});

describe("closing", () => {
  test("waits for started runs and their rows, and refuses new ones", async () => {
    const { handler, entered, open } = gate();
    const { runner, rows } = rigOf({ wait: handler }, [ONE_STEP]);
    await runner.start(request({}));
    await entered;
    const closing = runner.close();
    await expect(runner.start(request({}))).rejects.toMatchObject({ code: "cancelled" });
    open({});
    await closing;
    expect(rows.map(({ row }) => row.outcome)).toEqual(["succeeded"]);
    await runner.close();
  });

  test("cancels runs that exceed the grace period, and still writes their rows", async () => {
    const { handler, entered } = gate();
    let hurry = (): void => {};
    const timer = (callback: () => void): (() => void) => {
      hurry = callback;
      return () => {};
    };
    const { runner, rows } = rigOf({ wait: handler }, [ONE_STEP], { timer });
    await runner.start(request({}));
    await entered;
    const closing = runner.close();
    hurry();
    await closing;
    expect(rows.map(({ row }) => row.outcome)).toEqual(["cancelled"]);
  });
});

test("pipelines are listed by id", () => {
  const ids = ["b", "a", "c"].map((id) => ({ ...ONE_STEP, id }));
  expect(
    rigOf({ wait: () => ({}) }, ids)
      .runner.list()
      .map(({ id }) => id),
  ).toEqual(["a", "b", "c"]);
});
