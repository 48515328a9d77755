/** What a step works with, and what it may say while it works. */
import { HelmdeckError } from "../app/index.ts";
import type { Environment } from "./environment.ts";
import type { OpenClaw } from "./run-openclaw.ts";

export interface StepContext {
  readonly environment: Environment;
  readonly openclaw: OpenClaw | undefined;
  /** Bytes that have come in, of so many. */
  readonly progress: (done: number, total: number) => void;
  readonly warn: (text: string) => void;
}

/** The OpenClaw of a step that a plan has only when there is one. */
export function requireOpenClaw({ openclaw }: StepContext): OpenClaw {
  if (openclaw === undefined)
    throw new HelmdeckError("internal", "A step about OpenClaw was planned without one.");
  return openclaw;
}
