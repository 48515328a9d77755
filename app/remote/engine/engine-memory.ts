/**
 * A memory in a served engine, over its REST API; the engine stores, searches and ranks.
 *
 * The engine derives the memory from the token; the subject here is only the token's name. Nothing is queued: a call that cannot
 * be completed fails at once.
 */

import type { RecallMode } from "../../../engine/answer-limits.ts";
import { defined } from "../../../engine/defined.ts";
import { HelmdeckError, invalidField, isHelmdeckError } from "../../../engine/errors.ts";
import type { Subject } from "../../../engine/store/namespace.ts";
import type { Writer } from "../../../engine/store/writer.ts";
import type { Asker, Memory, StoredFacts } from "../../memory.ts";
import { OPERATIONS } from "../../operations/index.ts";
import type { Operation, Rest } from "../../operations/operation.ts";
import { toWire } from "../../wire/codec.ts";
import { claimOf, recordedReplySchema } from "../../wire/schemas.ts";
import { type RemoteMemory, remoteMemory } from "../remote-memory.ts";
import { EngineClient, type EngineClientOptions } from "./engine-client.ts";
import { plainWords } from "./engine-failures.ts";
import { engineStatus } from "./engine-status.ts";
import { examineEngine } from "./examine-engine.ts";

export interface EngineMemoryOptions extends EngineClientOptions {
  /** Everyone with a token, for doctor and health. */
  readonly agents: readonly Subject[];
  /** For queries without a mode. Default: the engine's. */
  readonly recall?: RecallMode;
  /** The system's clock, in Unix milliseconds. */
  readonly now?: () => number;
}

/** A page of facts, or a fact's history, may hold several of the largest values. */
const MOST_BYTES_OF_PAGE = 8 * 1024 * 1024;

/** Sends nothing before the first call. Refuses functions that only a command line has. */
export function openEngineMemory(options: EngineMemoryOptions): RemoteMemory {
  const { address, agents, recall, now = Date.now } = options;
  const client = new EngineClient(options);
  const uses = usesOver(client);
  const able: Partial<Memory> = {
    ...uses,
    search: (agent, query) => uses.search(agent, { ...defined({ recall }), ...query }),
    storeFacts: async (...asked) => withPlainWords(await uses.storeFacts(...asked)),
    ...recordingUses(client),
    warm: async () => {}, // the engine indexes a memory on its first search, and reports that meanwhile
    status: (agent) => engineStatus(client, agents, agent),
    doctor: () => examineEngine(client, { address, agents, now: now() }),
    close: async () => client.close(),
  };
  return remoteMemory(able, { now, refusal: () => notOverRest(client.url) });
}

/** Every operation that an engine serves. */
function usesOver(client: EngineClient): Partial<Memory> & Pick<Memory, "search" | "storeFacts"> {
  const served = OPERATIONS.filter(({ isServed = true }) => isServed);
  const uses = served.flatMap((one) =>
    one.rest === undefined ? [] : [[one.name, useOver(client, one, one.rest)]],
  );
  return Object.fromEntries(uses); // each is checked where it is declared
}

function useOver(client: EngineClient, operation: Operation, { method, path, isLarge }: Rest) {
  const { effects, input: request, reply: answers, missing } = operation;
  const { fromReply = (reply: unknown) => reply } = operation;
  const takesWriter = request !== undefined && "writer" in request.shape;
  return async (agent: Subject, input: Input = {}, writer?: Asker): Promise<unknown> => {
    const { key = "", ...others } = input;
    const asked = toWire(path.includes("{key}") ? others : input);
    const claim = takesWriter ? defined({ writer: claimOf(writer) }) : {};
    // Percent-encoded. A key that a URL would normalise, such as "..", is replaced by its docid.
    const reply = client.call(agent, {
      path: path.replace("{key}", () => {
        if (!key.isWellFormed()) throw invalidField("key", "must be valid Unicode");
        return encodeURIComponent(key === "." || key === ".." ? `user_facts/${key}` : key);
      }),
      ...(method === "get" ? { query: asked } : { body: { ...asked, ...claim } }),
      writes: !effects.readOnly && input.dryRun !== true,
      answers,
      ...(isLarge && { mostBytes: MOST_BYTES_OF_PAGE }),
    });
    const there = missing === undefined ? await reply : await orUndefined(reply);
    return there === undefined ? undefined : fromReply(there as never); // the reply of this operation
  };
}

/** What a refusal says comes from the server, like that of a single store (engine-failures.ts). */
function withPlainWords({ results, refused }: StoredFacts): StoredFacts {
  const plain = results.map((one) => ("error" in one ? { ...one, message: plainWords(one.message) } : one));
  return { results: plain, refused };
}

interface Input {
  readonly key?: string;
  readonly dryRun?: boolean;
}

function recordingUses(client: EngineClient) {
  const record = async (agent: Subject, kind: "tool" | "pack", row: object, writer?: Writer) => {
    await client.call(agent, {
      ...{ path: "/api/v1/memory/runs", writes: true },
      body: { kind, ...row, ...defined({ writer: claimOf(writer) }) },
      answers: recordedReplySchema,
    });
  };
  return {
    recordToolCall: (agent, row, writer) => record(agent, "tool", row, writer),
    recordPackRun: (agent, row, writer) => record(agent, "pack", row, writer),
  } satisfies Partial<Memory>;
}

async function orUndefined<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isHelmdeckError(error, "not_found")) return undefined;
    throw error;
  }
}

/** For operations that REST does not offer, and those for the engine's operator. */
function notOverRest(url: string): HelmdeckError {
  return new HelmdeckError(
    "memory_unavailable",
    `The engine at ${url} keeps this memory, so this must be done there: run helmdeck-memory on the engine's machine.`,
  );
}
