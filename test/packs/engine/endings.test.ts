/** Runs that end early: the caller leaves, the deadline passes or the engine closes, also if the handler does not react. */
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { HelmdeckError } from "../../../engine/errors.ts";
import { definePack } from "../../../packs/engine/define-pack.ts";
import type { PackContext } from "../../../packs/engine/pack-contract.ts";
import { ask, failureOf, gate, openPackRig, type PackRig } from "./rig.ts";

const DEADLINE_MS = 1_000;

/** A pack whose handler waits for the test and ignores the signal. */
function deafPack() {
  const started = gate<PackContext>();
  const end = gate<unknown>();
  const pack = definePack({
    name: "deaf",
    version: "1.0.0",
    description: "Hears nothing.",
    input: z.unknown(),
    output: z.unknown(),
    deadlineMs: DEADLINE_MS,
    memory: {},
    session: true,
    run: async (ec) => {
      started.open(ec);
      return end.opened;
    },
  });
  return { pack, started: started.opened, end: end.open };
}

interface Ending {
  readonly name: string;
  readonly code: string;
  happens(packRig: PackRig, leave: AbortController): void;
}

const endings: readonly Ending[] = [
  { name: "its caller leaves", code: "cancelled", happens: (_, leave) => leave.abort() },
  { name: "its deadline passes", code: "deadline_exceeded", happens: ({ timer }) => timer.pass(DEADLINE_MS) },
  {
    name: "the grace period of the closing engine passes",
    code: "cancelled",
    happens: ({ engine, timer }) => {
      void engine.close();
      timer.pass(500);
    },
  },
];

// verifies P-audit-always
describe.each(endings)("when $name,", ({ code, happens }) => {
  const open = async () => {
    const { pack, ...handler } = deafPack();
    const packRig = await openPackRig([pack], { closeGraceMs: 500 });
    const leave = new AbortController();
    const progress: number[] = [];
    const onProgress = (done: number) => progress.push(done);
    const failure = failureOf(packRig.engine.run(ask("deaf", {}, { signal: leave.signal, onProgress })));
    return {
      ...handler,
      ...packRig,
      ec: await handler.started,
      failure,
      end: handler.end,
      happen: () => happens(packRig, leave),
      progress,
    };
  };

  test("helmdeck's fault 10: the run ends at once even if its handler ignores the signal, and its row is written", async () => {
    const { happen, failure, rows, ec } = await open();
    happen();
    expect((await failure).code).toBe(code);
    expect(ec.signal.aborted).toBe(true);
    expect(await rows()).toMatchObject([{ pack: "deaf", outcome: code }]);
  });

  test("the handler's signal gives the reason", async () => {
    const { happen, failure, ec } = await open();
    happen();
    await failure;
    expect(ec.signal.reason).toBeInstanceOf(HelmdeckError);
    expect(ec.signal.reason).toMatchObject({ code });
  });

  test("a handler that ends late changes nothing and adds no row", async () => {
    const { happen, failure, end, rows, engine, timer, ec, artifacts, progress } = await open();
    ec.progress(0.5);
    happen();
    await failure;
    const file = { name: "late", mediaType: "text/plain", content: Buffer.from("late") };
    const { id } = await ec.artifacts.put(file); // the grace period still runs
    end({ late: true });
    const closing = engine.close();
    timer.pass(10_000);
    await closing;
    ec.progress(0.9);
    expect(progress).toEqual([0.5]);
    expect(await rows()).toHaveLength(1);
    expect(await artifacts.has("ana", id)).toBe(false);
    await expect(ec.artifacts.put(file)).rejects.toMatchObject({ code: "cancelled" });
  });

  test("close waits at most its grace period for a handler that ignores the signal, and releases the session", async () => {
    const { happen, failure, engine, timer, sessions, ec } = await open();
    happen();
    await failure;
    const closing = engine.close();
    timer.pass(10_000);
    await closing;
    const again = { caller: "ana", pack: "deaf", signal: new AbortController().signal };
    const session = await sessions.acquire({ ...again, sessionId: ec.session?.id ?? "" });
    expect(session.id).toBe(ec.session?.id);
    await sessions.release(session);
  });
});

test("a schema check that never ends delays neither the caller nor close", async () => {
  const { pack } = deafPack();
  const checking = gate();
  const endless = z.unknown().refine(() => {
    checking.open();
    return new Promise<boolean>(() => {});
  });
  const { engine, rows, timer } = await openPackRig([{ ...pack, input: endless }]);
  const failure = failureOf(engine.run(ask("deaf")));
  await checking.opened;
  timer.pass(DEADLINE_MS);
  expect((await failure).code).toBe("deadline_exceeded");
  const closing = engine.close();
  timer.pass(10_000);
  await closing;
  expect(await rows()).toMatchObject([{ outcome: "deadline_exceeded" }]);
});

test("helmdeck's fault 10: a caller who leaves before the run begins has a row too, and no handler runs", async () => {
  const { pack, started } = deafPack();
  const { engine, rows } = await openPackRig([pack]);
  let ran = false;
  void started.then(() => (ran = true));
  expect((await failureOf(engine.run(ask("deaf", {}, { signal: AbortSignal.abort() })))).code).toBe(
    "cancelled",
  );
  await engine.close();
  expect(ran).toBe(false);
  expect(await rows()).toMatchObject([{ outcome: "cancelled" }]);
});

test("a successful run releases its timer and the caller's signal", async () => {
  const { pack, end } = deafPack();
  const { engine, timer } = await openPackRig([pack]);
  end({});
  const leave = new AbortController();
  await engine.run(ask("deaf", {}, { signal: leave.signal }));
  expect(timer.waiting).toBe(0);
  leave.abort();
});

test("closing lets started runs finish, refuses new ones, and ends when their rows are written", async () => {
  const { pack, started, end } = deafPack();
  const packRig = await openPackRig([pack]);
  const run = packRig.engine.run(ask("deaf"));
  await started;
  const closing = packRig.engine.close().then(() => packRig.rows());
  expect(await failureOf(packRig.engine.run(ask("deaf")))).toMatchObject({
    code: "cancelled",
    message: "This server is shutting down; try again when it is back.",
  });
  end({ done: true });
  expect(await closing).toMatchObject([{ outcome: "ok" }]);
  expect((await run).output).toEqual({ done: true });
  expect(packRig.timer.waiting).toBe(0);
});
