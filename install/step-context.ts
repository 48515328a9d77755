/** The context of a step: the environment, and its progress and warnings. */
import { HelmdeckError } from "../engine/errors.ts";
import type { Environment } from "./environment.ts";
import type { OpenClaw } from "./run-openclaw.ts";

export interface StepContext {
  readonly environment: Environment;
  readonly openclaw: OpenClaw | undefined;
  /** Received bytes of the total. */
  readonly progress: (done: number, total: number) => void;
  readonly warn: (text: string) => void;
}

/** For steps that are planned only if there is an OpenClaw. */
export function requireOpenClaw({ openclaw }: StepContext): OpenClaw {
  if (openclaw === undefined)
    throw new HelmdeckError("internal", "A step about OpenClaw was planned without one.");
  return openclaw;
}
