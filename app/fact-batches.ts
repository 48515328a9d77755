/**
 * Stores many facts in one call.
 *
 * Each is judged by the rules of a single store, in the given order. The store writes those of one moment in one transaction
 * (decision 69). The batches of one caller take turns, so that nobody else's store waits for more than a part of one.
 */
import { ABOUT_THE_INPUT, type HelmdeckError, invalidField, isHelmdeckError } from "../engine/errors.ts";
import { FACT_LIMITS } from "../engine/facts/facts-policy.ts";
import type { Namespace } from "../engine/store/namespace.ts";
import type { Writer } from "../engine/store/writer.ts";
import { makeSlices, systemClock } from "../engine/timing.ts";
import { prepareFact } from "./facts.ts";
import { forCallers } from "./health/for-callers.ts";
import type { FactInput, FactsInput, RefusedFact, StoredFact, StoredFacts } from "./memory.ts";
import type { UseCaseContext } from "./use-case-context.ts";

/** Facts that are written at one moment: as many as share a transaction. */
const STEP = 64;
/** For how long a batch looks for similar facts; the rest is stored without. */
const LOOKS_FOR_MS = 2_000;

interface Failed {
  readonly key: string;
  readonly error: HelmdeckError;
}
type Result = StoredFact | Failed;

export class FactBatches {
  readonly #context: UseCaseContext;
  readonly #clock: () => number;
  /** Each caller's last batch, while it is carried out. */
  readonly #last = new Map<Namespace, Promise<unknown>>();

  /** @param clock monotonic milliseconds */
  constructor(context: UseCaseContext, clock = systemClock.now) {
    this.#context = context;
    this.#clock = clock;
  }

  /**
   * Throws `invalid_input` for another number of facts than is allowed, and the failure of the memory if it kept every fact from
   * being stored.
   */
  async store(namespace: Namespace, input: FactsInput, writer?: Writer): Promise<StoredFacts> {
    requireNumber(input.facts);
    return answerOf(await this.#inTurn(namespace, () => this.#storeAll(namespace, input, writer)));
  }

  #inTurn<Answer>(namespace: Namespace, work: () => Promise<Answer>): Promise<Answer> {
    const turn = (this.#last.get(namespace) ?? Promise.resolve()).then(work);
    const leave = (): void => {
      if (this.#last.get(namespace) === ended) this.#last.delete(namespace);
    };
    const ended = turn.then(leave, leave);
    this.#last.set(namespace, ended);
    return turn;
  }

  async #storeAll(
    namespace: Namespace,
    { facts, similar = true }: FactsInput,
    writer: Writer | undefined,
  ): Promise<readonly Result[]> {
    const yielding = makeSlices();
    const looksUntil = this.#clock() + LOOKS_FOR_MS;
    const results: Result[] = [];
    for (const step of steps(facts)) {
      const writes: (() => Promise<StoredFact>)[] = [];
      for (const fact of step) {
        const looks = similar && this.#clock() < looksUntil;
        const refused = (error: unknown) => () => Promise.reject(error);
        writes.push(
          await prepareFact(this.#context, namespace, { ...fact, similar: looks }, writer).catch(refused),
        );
        await yielding();
      }
      results.push(...(await Promise.all(writes.map((write, n) => resultOf(write(), step[n]?.key ?? "")))));
    }
    return results;
  }
}

function requireNumber(facts: unknown): void {
  const { together } = FACT_LIMITS;
  if (Array.isArray(facts) && facts.length >= 1 && facts.length <= together) return;
  const count = Array.isArray(facts) ? facts.length : 0;
  throw invalidField(
    "facts",
    `must be a list of 1 to ${together} facts, not ${count}; send the rest in further requests`,
    {
      details: { most: together },
    },
  );
}

/** One that supersedes others begins a step, so that it finds those before it. */
function steps<Fact extends Pick<FactInput, "supersedes">>(facts: readonly Fact[]): readonly Fact[][] {
  const all: Fact[][] = [[]];
  for (const fact of facts) {
    const last = all.at(-1);
    const isFull = last === undefined || last.length === STEP;
    if (isFull || (last.length > 0 && (fact.supersedes?.length ?? 0) > 0)) all.push([fact]);
    else last.push(fact);
  }
  return all;
}

async function resultOf(writing: Promise<StoredFact>, key: string): Promise<Result> {
  try {
    return await writing;
  } catch (error) {
    if (isHelmdeckError(error)) return { key, error };
    throw error;
  }
}

function answerOf(results: readonly Result[]): StoredFacts {
  const failed = results.filter(isFailed);
  const failure = failed.find(({ error }) => !ABOUT_THE_INPUT.has(error.code));
  if (failure !== undefined && failed.length === results.length) throw failure.error;
  return {
    results: results.map((one) => (isFailed(one) ? refusedFact(one) : one)),
    refused: failed.length,
  };
}

function isFailed(result: Result): result is Failed {
  return "error" in result;
}

function refusedFact({ key, error }: Failed): RefusedFact {
  const { code, message, details } = forCallers(error);
  return { key, error: code, message, ...(Object.keys(details).length > 0 && { details }) };
}
