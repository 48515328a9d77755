/** The result of a run and its audit row, however it ends. */
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { HelmdeckError } from "../../../engine/errors.ts";
import { definePack, PackFailure } from "../../../packs/engine/define-pack.ts";
import type { Pack } from "../../../packs/engine/pack-contract.ts";
import { ANA, ask, failureOf, gate, openPackRig, overridden, packThat } from "./rig.ts";

const greet = definePack({
  name: "greet",
  version: "1.2.0",
  description: "Greets.",
  input: z.object({ who: z.string().min(1), title: z.string().optional(), loud: z.boolean().default(false) }),
  output: z.object({ text: z.string() }),
  run: async (_, { who, loud }) => ({ text: loud ? `HELLO ${who}` : `hello ${who}` }),
});

test("a run returns the output, and leaves a row with its duration in milliseconds and its learnable inputs", async () => {
  const { engine, rows } = await openPackRig([greet]);
  const run = await engine.run(ask("greet", { who: "Ben", title: "Dr", secret: "s3cret" }));
  const output = { text: "hello Ben" };
  expect(run).toEqual({
    pack: "greet",
    version: "1.2.0",
    output,
    artifacts: [],
    durationMs: 0,
    cached: false,
  });
  const at_unix = Date.parse("2026-11-20T12:00:00Z") / 1_000;
  const times = { at_unix, duration_ms: 0 };
  expect(await rows()).toEqual([
    { pack: "greet", version: "1.2.0", outcome: "ok", ...times, learn_inputs: { title: "Dr" } },
  ]);
});

test("helmdeck's fault 16: durations are in milliseconds, and a failing back-end is not reported as invalid_input", async () => {
  const slow = packThat(async () => {
    clock.pass(1_500);
    return {};
  });
  const broken = packThat((ec) => Promise.resolve(ec.memory?.store("a", "b")), {
    name: "broken",
    memory: {},
  });
  const { engine, clock, rows } = await openPackRig([slow, broken], {}, (store) =>
    overridden(store, {
      put: async () => {
        throw new HelmdeckError("store_full", "The disk is full.");
      },
    }),
  );
  expect((await engine.run(ask("probe"))).durationMs).toBe(1_500);
  expect((await failureOf(engine.run(ask("broken")))).code).toBe("store_full");
  expect(await rows()).toMatchObject([
    { pack: "probe", outcome: "ok", duration_ms: 1_500 },
    { pack: "broken", outcome: "store_full", duration_ms: 0 },
  ]);
});

describe("the row of a run", () => {
  const throws = (error: unknown) => async () => {
    throw error;
  };
  const upstream = new HelmdeckError("upstream_failed", "No answer.");
  const atOnce = () => {
    throw new Error("s3cret");
  };
  test.each<readonly [string, Pack["run"], string]>([
    ["of a pack that fails", throws(new HelmdeckError("pack_failed", "No such branch.")), "pack_failed"],
    ["that an upstream failed", throws(upstream), "upstream_failed"],
    ["that threw a TypeError", throws(new TypeError("s3cret")), "internal"],
    ["that threw a text", throws("s3cret"), "internal"],
    ["that threw undefined", throws(undefined), "internal"],
    ["that threw null", throws(null), "internal"],
    ["that threw before its first step", atOnce, "internal"],
    ["with an answer that its schema refuses", async () => ({ text: 7 }), "invalid_output"],
  ])("%s has the error's code as outcome, and the error shows no unexpected text", async (_, run, code) => {
    const { engine, rows } = await openPackRig([{ ...greet, run }]);
    const error = await failureOf(engine.run(ask("greet", { who: "Ben" })));
    expect(error.code).toBe(code);
    expect(error.message).not.toContain("s3cret");
    expect(await rows()).toMatchObject([{ pack: "greet", outcome: code }]);
  });

  test("names an input that the schema refuses by field and rule, without its value", async () => {
    const { engine, rows } = await openPackRig([greet]);
    const error = await failureOf(engine.run(ask("greet", { who: ["s3cret"] })));
    expect(error).toMatchObject({ code: "invalid_input", details: { field: "who" } });
    expect(error.message).toMatch(/^The input of greet was refused: who: /);
    expect(JSON.stringify([error.message, error.details, error.cause])).not.toContain("s3cret");
    expect((await failureOf(engine.run(ask("greet", {})))).message).toContain("who: is missing.");
    expect(await rows()).toMatchObject([{ outcome: "invalid_input" }, { outcome: "invalid_input" }]);
  });

  test("has the well-formed findings of the output, at most 50, and nothing else of them", async () => {
    const many = Array.from({ length: 60 }, (_, i) => ({ code: `C${i}`, severity: "low", text: "s3cret" }));
    const findings = [{ code: "" }, "s3cret", null, { code: "A", severity: "b", file: "c" }, ...many];
    const output = { findings };
    const { engine, rows } = await openPackRig([packThat(async () => output)]);
    expect((await engine.run(ask("probe"))).output).toEqual(output);
    const [row] = await rows();
    expect(row?.findings).toHaveLength(50);
    expect(row?.findings?.slice(0, 2)).toEqual([
      { code: "A", severity: "b", file: "c" },
      { code: "C0", severity: "low" },
    ]);
    expect(JSON.stringify(row)).not.toContain("s3cret");
  });

  test("has the findings of checkers inside the answer, with an empty severity if none is given", async () => {
    const output = {
      findings: [{ code: "A", severity: "high" }],
      lint: { findings: [{ code: "L", severity: "", file: "" }], issues: "none" },
      inspect: { issues: [{ code: "I", level: "warning", file: "a.ts" }], errors: [{ code: 7 }] },
      validate: { errors: [{ code: "E" }], warnings: [{ code: "W", severity: "low", level: "high" }] },
      other: { findings: [{ code: "X", severity: "low" }] },
    };
    const { engine, rows, memory } = await openPackRig([packThat(async () => output)]);
    await engine.run(ask("probe"));
    expect((await rows())[0]?.findings).toEqual([
      { code: "A", severity: "high" },
      { code: "L", severity: "" },
      { code: "I", severity: "warning", file: "a.ts" },
      { code: "E", severity: "" },
      { code: "W", severity: "low" },
    ]);
    const [chunk] = (await memory.corpusPage(ANA, {})).chunks;
    expect(chunk?.content).toContain("Findings:\n- high A\n- L\n- warning I in a.ts\n- E\n- low W");
  });

  const broken = { validate: { errors: [{ code: "E", level: "error" }] } };
  const refused = async () => ({ text: 7, findings: [{ code: "E", severity: "error" }] });
  test.each<readonly [string, Pack["run"], string]>([
    ["of a pack that fails", throws(new PackFailure("The page has errors.", broken)), "pack_failed"],
    ["with an answer that its schema refuses", refused, "invalid_output"],
  ])("%s has its findings", async (_, run, outcome) => {
    const { engine, rows } = await openPackRig([{ ...greet, run }]);
    const error = await failureOf(engine.run(ask("greet", { who: "Ben" })));
    expect(JSON.stringify({ ...error })).not.toContain('"E"');
    expect(await rows()).toMatchObject([{ outcome, findings: [{ code: "E", severity: "error" }] }]);
  });

  test.each([["no list"], [{}], [undefined]])("has no findings if the output has %j", async (findings) => {
    const { engine, rows } = await openPackRig([packThat(async () => ({ findings }))]);
    await engine.run(ask("probe"));
    expect((await rows())[0]).not.toHaveProperty("findings");
  });

  test("is not written for a pack with audit: false", async () => {
    const { engine, rows } = await openPackRig([{ ...greet, audit: false }]);
    await engine.run(ask("greet", { who: "Ben" }));
    await failureOf(engine.run(ask("greet", {})));
    expect(await rows()).toEqual([]);
  });

  test("belongs to its caller, also for a run in a session", async () => {
    const inSession = packThat(async (ec) => ({ id: ec.session?.id }), { session: true });
    const { engine, rows } = await openPackRig([inSession]);
    await engine.run(ask("probe", {}, { caller: "ben" }));
    expect(await rows()).toEqual([]);
    expect(await rows("ben")).toHaveLength(1);
  });

  test("is reported if it cannot be written, and the run still returns its answer", async () => {
    const recordRun = async () => {
      throw new HelmdeckError("store_locked", "Locked.");
    };
    const { engine, lost } = await openPackRig([greet], { recordRun });
    expect((await engine.run(ask("greet", { who: "Ben" }))).output).toEqual({ text: "hello Ben" });
    expect((await failureOf(engine.run(ask("greet", {})))).code).toBe("invalid_input");
    expect(lost.rows).toMatchObject([{ outcome: "ok" }, { outcome: "invalid_input" }]);
  });
});

describe("refused before the run begins:", () => {
  test("an unknown pack, which leaves no row", async () => {
    const { engine, rows } = await openPackRig([greet]);
    for (const name of ["", "Greet", "greet ", "constructor", "__proto__"]) {
      expect((await failureOf(engine.run(ask(name)))).code).toBe("not_found");
    }
    expect(await rows()).toEqual([]);
  });

  test("a pack that starts processes, for an unauthenticated caller; the attempt leaves a row", async () => {
    let ran = false;
    const starter = packThat(async () => (ran = true), { startsProcess: true, session: true });
    const { engine, rows } = await openPackRig([starter]);
    expect((await failureOf(engine.run(ask("probe", {}, { authenticated: false })))).code).toBe("forbidden");
    expect(ran).toBe(false);
    expect(await rows()).toMatchObject([{ outcome: "forbidden" }]);
    expect((await engine.run(ask("probe"))).output).toBe(true);
  });

  test("a session for a pack without sessions", async () => {
    const { engine } = await openPackRig([greet]);
    expect(await failureOf(engine.run(ask("greet", { who: "Ben" }, { sessionId: "s" })))).toMatchObject({
      code: "invalid_input",
      details: { field: "sessionId" },
    });
  });
});

describe("a session", () => {
  const program = ["-e", "process.stdout.write(process.cwd())"];

  test("is a folder for processes, which the same caller's next run can reuse", async () => {
    const pack = packThat(
      async ({ session }) => ({ id: session?.id, out: await session?.run(process.execPath, program) }),
      { session: true, startsProcess: true },
    );
    const { engine } = await openPackRig([pack]);
    const first = await engine.run(ask("probe"));
    const { id } = first.output as { id: string };
    expect(first).toMatchObject({ sessionId: id, output: { out: { exitCode: 0 } } });
    expect(await engine.run(ask("probe", {}, { sessionId: id }))).toMatchObject({ sessionId: id });
    const foreign = ask("probe", {}, { sessionId: id, caller: "ben" });
    expect((await failureOf(engine.run(foreign))).code).toBe("not_found");
  });

  test("starts no process for a pack that does not declare it, since anyone may run such a pack", async () => {
    const pack = packThat(async ({ session }) => session?.run(process.execPath, program), { session: true });
    const { engine } = await openPackRig([pack]);
    expect((await failureOf(engine.run(ask("probe", {}, { authenticated: false })))).code).toBe("forbidden");
  });

  test("ends with the run, also if the run fails", async () => {
    const released: string[] = [];
    const pack = packThat(() => Promise.reject(new HelmdeckError("pack_failed", "No.")), { session: true });
    const { another, sessions } = await openPackRig([]);
    const watched = overridden(sessions, {
      release: (session) => {
        released.push(session.id);
        return sessions.release(session);
      },
    });
    await failureOf(another([pack], { sessions: watched }).run(ask("probe")));
    expect(released).toHaveLength(1);
  });
});

describe("artifacts", () => {
  const file = { name: "a.txt", mediaType: "text/plain", content: Buffer.from("a") };

  test("are in the answer in the order of their storage, also if the handler did not wait for them", async () => {
    const pack = packThat(async ({ artifacts }) => {
      await artifacts.put(file);
      void artifacts.put({ ...file, name: "b.txt" });
      return {};
    });
    const { engine, artifacts } = await openPackRig([pack]);
    const run = await engine.run(ask("probe"));
    expect(run.artifacts.map(({ name }) => name)).toEqual(["a.txt", "b.txt"]);
    expect(await artifacts.get(ANA, run.artifacts[0]?.id ?? "")).toMatchObject({ content: Buffer.from("a") });
  });

  test("of a failed run are deleted", async () => {
    const put = gate<string>();
    const pack = packThat(async ({ artifacts }) => {
      put.open((await artifacts.put(file)).id);
      throw new HelmdeckError("pack_failed", "No.");
    });
    const { engine, artifacts } = await openPackRig([pack]);
    await failureOf(engine.run(ask("probe")));
    expect(await artifacts.has(ANA, await put.opened)).toBe(false);
  });

  test("that the store refuses fail only a handler that awaits them", async () => {
    const pack = packThat(async ({ artifacts }) => {
      await artifacts.put({ ...file, name: "../a" }).catch(() => {});
      return {};
    });
    const { engine } = await openPackRig([pack]);
    expect((await engine.run(ask("probe"))).artifacts).toEqual([]);
  });
});

test("the caller gets progress as numbers from 0 to 1 and escaped text, and a failing listener does not fail the run", async () => {
  const pack = packThat(async ({ progress }) => {
    progress(-1);
    progress(Number.NaN);
    progress(0.5, "half\u001b[31m\nway");
    progress(7, "x".repeat(1_000));
    return {};
  });
  const { engine } = await openPackRig([pack]);
  const seen: unknown[] = [];
  await engine.run(ask("probe", {}, { onProgress: (...step) => seen.push(step) }));
  expect(seen).toEqual([[0], [0.5, "half[U+001B][31m way"], [1, "x".repeat(200)]]);
  const onProgress = () => {
    throw new Error("gone");
  };
  expect((await engine.run(ask("probe", {}, { onProgress }))).output).toEqual({});
});

test("a handler gets the input as the schema parses it", async () => {
  const { engine } = await openPackRig([packThat(async (_, input) => input, { input: greet.input })]);
  expect((await engine.run(ask("probe", { who: "Ben", more: 1 }))).output).toEqual({
    who: "Ben",
    loud: false,
  });
});

test("the number of a caller's runs is limited, including runs whose caller has left", async () => {
  const held = gate();
  const allBegun = gate();
  let begun = 0;
  const slow = packThat(async () => {
    begun += 1;
    if (begun === 4) allBegun.open();
    await held.opened;
    return {};
  });
  const { engine, rows } = await openPackRig([slow], { underWay: { perCaller: 2, total: 4 } });
  const leaving = new AbortController();
  const runOf = (caller: string, signal?: AbortSignal) =>
    engine.run(ask("probe", {}, { caller, ...(signal && { signal }) }));
  const left = ["ana", "ana", "ben", "ben"].map((caller) => failureOf(runOf(caller, leaving.signal)));
  await allBegun.opened;
  leaving.abort();
  for (const failure of left) expect(await failure).toMatchObject({ code: "cancelled" });
  expect(await failureOf(runOf("ana"))).toMatchObject({ code: "rate_limited" });
  expect(await rows()).toHaveLength(2);
  const others = runOf("cleo");
  held.open();
  expect(await others).toMatchObject({ output: {} });
  expect(await runOf("ana")).toMatchObject({ output: {} });
});
