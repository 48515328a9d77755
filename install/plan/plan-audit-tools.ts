/** The part of a plan that asks once which tools' calls are recorded, and does as it was answered. */
import type { Facts, OpenClawReady } from "../installation-facts.ts";
import type { Options } from "../options.ts";
import type { Step } from "../steps/registry.ts";
import type { Question } from "./plan.ts";

interface AuditToolsPlan {
  readonly steps: readonly Step[];
  readonly questions: readonly Question[];
}

export function planAuditTools(
  { configPath, auditTools }: OpenClawReady,
  { journal }: Facts,
  options: Options,
): AuditToolsPlan {
  const earlier = journal.auditTools;
  const answer = options.auditTools ?? (earlier?.isDue ? earlier.answer : undefined);
  if (answer === undefined) {
    const isAnswered = earlier !== undefined || auditTools !== undefined;
    return { steps: [], questions: isAnswered ? [] : [QUESTION] };
  }
  const isDone = earlier?.answer === answer && !earlier.isDue && (auditTools ?? "helmdeck") === answer;
  return { steps: isDone ? [] : [{ kind: "audit-tools", configPath, answer }], questions: [] };
}

const QUESTION: Question = {
  about: "tools",
  text: 'Record what your agent does with any tool, not with helmdeck\'s alone? Then "what did you do yesterday?" has an answer. Kept for 30 days: the tool, when, how it ended, few inputs, never a result, and nothing from groups.',
};
