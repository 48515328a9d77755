/** All operations of memory that somebody can ask for from elsewhere, in the order of the REST description. */
import { defined } from "../../engine/defined.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { isRecord } from "../../engine/json.ts";
import type { Subject } from "../../engine/store/namespace.ts";
import type { Writer } from "../../engine/store/writer.ts";
import { type Audit, type AuditActor, audited, kindOfScope } from "../audit-log.ts";
import { type Asker, type Memory, type MemoryTool, toolOf } from "../memory.ts";
import { fromWire, toWire } from "../wire/codec.ts";
import { corpusPage, listRuns, readDocument } from "./corpus.ts";
import { exportMemory } from "./export.ts";
import { getFact, listFacts } from "./facts.ts";
import { forget } from "./forget.ts";
import { HISTORY_OPERATIONS } from "./history.ts";
import type { Operation, ToolOperation } from "./operation.ts";
import { OVERVIEW_OPERATIONS } from "./overview.ts";
import { REVIEW_OPERATIONS } from "./review.ts";
import { search } from "./search.ts";
import { storeFact, storeFacts } from "./store-fact.ts";

export const OPERATIONS: readonly Operation[] = [
  ...[storeFact, storeFacts, forget, listFacts, getFact, ...HISTORY_OPERATIONS, corpusPage],
  ...[exportMemory, ...OVERVIEW_OPERATIONS, search, readDocument, listRuns],
  ...REVIEW_OPERATIONS,
];

/** The operation behind one of memory's tools. */
export function operationOf(tool: MemoryTool): ToolOperation {
  const found = OPERATIONS.find(
    (one): one is ToolOperation => toolOf(one.name) === tool && one.tool !== undefined,
  );
  if (found !== undefined) return found;
  throw new HelmdeckError("internal", `No operation of memory is the tool ${tool}.`);
}

type AnyUseCase = (subject: Subject | undefined, input: unknown, writer: Writer) => Promise<unknown>;

/**
 * Performs an operation on a memory: input and reply in JSON's names. The input must be valid for the operation's schema. Without a
 * subject: for everybody's memory.
 */
export async function perform(
  { name, missing, toReply = (answer: unknown) => answer }: Operation,
  memory: Partial<Memory>,
  subject: Subject | undefined,
  input: unknown,
  writer: Writer,
): Promise<unknown> {
  const useCase = memory[name] as AnyUseCase; // its input and answer are checked where the operation is declared
  const answer = await useCase(subject, fromWire(input), writer);
  if (answer === undefined && missing !== undefined) throw missing(subject ?? "");
  return toWire(toReply(answer as never));
}

/**
 * The memory whose operations leave lines in the audit log, as they declare. A dry run leaves none, nor does reading one's own memory.
 * `operator`: whoever started this process; absent: each caller acts for itself.
 */
export function auditedMemory<Given extends Memory>(
  memory: Given,
  audit: Audit,
  operator?: AuditActor,
): Given {
  const recorded = OPERATIONS.flatMap(({ name, audit: action, effects }) => {
    if (action === undefined) return [];
    const useCase = memory[name] as (...asked: readonly unknown[]) => Promise<unknown>; // passes on what it got
    const withLine = async (subject: Subject | undefined, input: Input, asker?: Asker): Promise<unknown> => {
      const { surface = "", agent, caller = agent ?? subject ?? "" } = asker ?? {};
      const work = () => useCase(subject, input, asker);
      if (input?.dryRun === true || (effects.readOnly && caller === subject)) return work();
      const actor = operator ?? { kind: "caller", name: caller, surface };
      return audited(audit, { action, actor }, async (found) => {
        found({ ...defined({ subject }), ...(input?.scope !== undefined && kindOfScope(input.scope)) });
        const answer = await work();
        if (isRecord(answer) && typeof answer.deleted === "number") found({ entries: answer.deleted });
        return answer;
      });
    };
    return [[name, withLine]];
  });
  return { ...memory, ...Object.fromEntries(recorded) };
}

/** What is looked at of an input: nothing of it but the kind of its scope gets into a line. */
type Input = { readonly dryRun?: boolean | null; readonly scope?: unknown } | undefined;
