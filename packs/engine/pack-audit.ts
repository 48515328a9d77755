/** The audit row of one run: pack, outcome and duration, never the input's or output's text. */

import type { PackAudit } from "../../engine/audit/audit-rows.ts";
import { findingsOf } from "../../engine/audit/findings.ts";
import { learnableInputs } from "../../engine/audit/learnable.ts";
import { defined } from "../../engine/defined.ts";
import type { ErrorCode } from "../../engine/errors.ts";
import type { UnixMs } from "../../engine/store/memory-store.ts";
import type { Pack } from "./pack-contract.ts";

export interface EndedRun {
  readonly pack: Pack;
  readonly input: unknown;
  readonly outcome: "ok" | ErrorCode;
  readonly endedAt: UnixMs;
  readonly durationMs: number;
  /** For a successful run, and for a failed run with findings. */
  readonly output?: unknown;
}

export function packAuditOf({ pack, input, outcome, endedAt, durationMs, output }: EndedRun): PackAudit {
  const learnt = learnableInputs(input);
  const findings = findingsOf(output);
  return {
    pack: pack.name,
    version: pack.version,
    outcome,
    at_unix: Math.floor(endedAt / 1_000),
    duration_ms: durationMs,
    ...defined({ learn_inputs: learnt }),
    ...(findings.length > 0 && { findings }),
  };
}
