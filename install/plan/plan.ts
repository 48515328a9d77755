/** A plan: steps, or unmet prerequisites. */
import type { Target } from "../installation-facts.ts";
import type { Step } from "../steps/registry.ts";

export interface Plan {
  readonly target: Target | undefined;
  readonly steps: readonly Step[];
  /** Notes for the person, shown before and after. */
  readonly warnings: readonly string[];
  readonly unmet: readonly UnmetPrerequisite[];
  /** Questions about the operator's own settings, which are replaced only with consent. */
  readonly questions: readonly Question[];
  /** The options that stay as the last installation had them, as they are typed. */
  readonly kept: readonly string[];
}

/** A missing prerequisite, with its remedy. */
export interface UnmetPrerequisite {
  readonly what: "docker" | "openclaw" | "gateway" | "disk" | "memory" | "embeddings" | "turn";
  readonly message: string;
  readonly remedy: string;
}

export interface Question {
  readonly about: "search" | "facts" | "tools" | "notes" | "speakUp" | "keepAYear";
  readonly text: string;
}
