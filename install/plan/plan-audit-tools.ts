/** Plans the recording of tool calls: asks once, then applies the answer. */
import type { Facts, OpenClawReady } from "../installation-facts.ts";
import type { Options } from "../options.ts";
import type { Step } from "../steps/registry.ts";
import type { Question } from "./plan.ts";

interface AuditToolsPlan {
  readonly steps: readonly Step[];
  readonly questions: readonly Question[];
  readonly kept: readonly string[];
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
    const isKept = earlier?.answer === "all" && auditTools === "all";
    return {
      steps: [],
      questions: isAnswered ? [] : [QUESTION],
      kept: isKept ? ["--audit-tools all"] : [],
    };
  }
  const isDone = earlier?.answer === answer && !earlier.isDue && (auditTools ?? "helmdeck") === answer;
  return { steps: isDone ? [] : [{ kind: "audit-tools", configPath, answer }], questions: [], kept: [] };
}

const QUESTION: Question = {
  about: "tools",
  text: 'Record the calls of all tools, not only helmdeck\'s? Your agent can then answer "what did you do yesterday?". Kept for 30 days: tool, time, outcome and a few inputs; never results, and nothing from groups.',
};
