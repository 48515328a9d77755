import { describe, expect, test } from "vitest";
import { HelmdeckError } from "../../engine/errors.ts";
import { Questions } from "../../recall/meaning/questions.ts";
import { REFERENCE_TEXTS } from "../../recall/meaning/reference-vectors.ts";
import { FakeClock } from "../sidecar/fake-clock.ts";
import { drawSpace } from "./meaning.ts";

const BUDGET_MS = 1_500;
const never = () => new Promise<never>(() => {});

function timed() {
  const clock = new FakeClock();
  const { timer } = clock;
  return { clock, questions: new Questions({ timer }) };
}

describe("a question", () => {
  test("is embedded once, however often and by however many callers it is asked", async () => {
    const { embedder, asked } = drawSpace();
    const { questions } = timed();
    const [one, other] = await Promise.all([questions.read("q", embedder), questions.read("q", embedder)]);
    expect(one).toMatchObject({ kind: "read", question: { space: "drawn" } });
    expect(other).toMatchObject({ kind: "read" });
    expect(await questions.read("q", embedder)).toMatchObject({ kind: "read" });
    expect(asked).toEqual(["q"]);
    await questions.read("another", embedder);
    expect(asked).toEqual(["q", "another"]);
  });

  test("is cached only while there is room", async () => {
    const { embedder, asked } = drawSpace();
    const { questions } = timed();
    for (let number = 0; number <= 128; number += 1) await questions.read(`q${number}`, embedder);
    await questions.read("q128", embedder);
    expect(asked).toHaveLength(129);
    await questions.read("q0", embedder);
    expect(asked).toHaveLength(130);
  });

  test("is abandoned after exactly 1.5 s, and retried the next time", async () => {
    let hangs = true;
    const space = drawSpace();
    const signals: (AbortSignal | undefined)[] = [];
    const embedder = drawSpace({
      embedQuery: (text, options) => {
        signals.push(options?.signal);
        return hangs ? never() : space.embedder.embedQuery(text);
      },
    }).embedder;
    const { clock, questions } = timed();
    let answer: unknown;
    const reading = questions.read("q", embedder).then((read) => {
      answer = read;
    });
    await clock.alarmIn(BUDGET_MS);
    clock.advance(BUDGET_MS - 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(answer).toBeUndefined();
    clock.advance(1);
    await reading;
    expect(answer).toEqual({ kind: "missed", code: "deadline_exceeded" });
    expect(signals[0]?.aborted).toBe(true);
    expect(clock.pending).toEqual([]);
    hangs = false;
    expect(await questions.read("q", embedder)).toMatchObject({ kind: "read" });
  });

  test("that was asked later than an equal one has a budget of its own", async () => {
    const space = drawSpace();
    let tries = 0;
    const embedder = drawSpace({
      embedQuery: (text) => {
        tries += 1;
        return tries === 1 ? never() : space.embedder.embedQuery(text);
      },
    }).embedder;
    const { clock, questions } = timed();
    const first = questions.read("q", embedder);
    await clock.alarmIn(BUDGET_MS);
    clock.advance(BUDGET_MS - 100);
    const second = questions.read("q", embedder);
    await clock.alarmIn(BUDGET_MS);
    clock.advance(100);
    expect(await first).toEqual({ kind: "missed", code: "deadline_exceeded" });
    expect(await second).toMatchObject({ kind: "read" });
    expect(tries).toBe(2);
    expect(clock.pending).toEqual([]);
  });

  test("is abandoned as soon as the service refuses", async () => {
    const embedder = drawSpace({
      embedQuery: () => Promise.reject(new HelmdeckError("model_missing", "No such model.")),
    }).embedder;
    const { clock, questions } = timed();
    expect(await questions.read("q", embedder)).toEqual({ kind: "missed", code: "model_missing" });
    expect(clock.pending).toEqual([]);
  });

  test("waits for the reference vectors no longer than for its own vector, and uses them the next time", async () => {
    const space = drawSpace();
    const measuring = Promise.withResolvers<void>();
    const measured: string[] = [];
    const embedder = drawSpace({
      embedDocuments: async (texts) => {
        measured.push(...texts);
        await measuring.promise;
        return space.embedder.embedDocuments(texts);
      },
    }).embedder;
    const { clock, questions } = timed();
    const reading = questions.read("q", embedder);
    await clock.alarmIn(BUDGET_MS);
    clock.advance(BUDGET_MS);
    expect(await reading).toEqual({ kind: "missed", code: "deadline_exceeded" });
    measuring.resolve();
    expect(await questions.read("q", embedder)).toMatchObject({ kind: "read" });
    expect(measured).toEqual(REFERENCE_TEXTS);
  });

  test("of a model that returns the same vector for every text is not compared", async () => {
    const same = Float32Array.from({ length: 64 }, () => 1 / 8);
    const embedder = drawSpace({
      embedDocuments: async (texts) => ({ vectors: texts.map(() => same), truncated: [] }),
    }).embedder;
    expect(await timed().questions.read("q", embedder)).toEqual({
      kind: "missed",
      code: "embeddings_unavailable",
    });
  });
});
