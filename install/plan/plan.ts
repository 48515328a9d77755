/** What the planner gives: steps, or what stands in their way. */
import type { Target } from "../installation-facts.ts";
import type { Step } from "../steps/registry.ts";

export interface Plan {
  readonly target: Target | undefined;
  readonly steps: readonly Step[];
  /** What a person should know before and after. */
  readonly warnings: readonly string[];
  readonly unmet: readonly UnmetPrerequisite[];
  /** What the operator set stands in the way: it goes only when the operator says so. */
  readonly questions: readonly Question[];
}

/** What the machine lacks, with what to do about it. */
export interface UnmetPrerequisite {
  readonly what: "docker" | "openclaw" | "gateway" | "disk" | "memory" | "embeddings" | "turn";
  readonly message: string;
  readonly remedy: string;
}

export interface Question {
  readonly about: "search" | "facts" | "tools";
  readonly text: string;
}
