/** The shapes of audit rows, as helmdeck writes them (facts/helmdeck.md, "Audit rows"). */

export interface AuditFinding {
  readonly code: string;
  readonly severity: string;
  readonly file?: string;
}

/** One run of a pack. `outcome` is "ok" or an error code; times are unix seconds, durations milliseconds. */
export interface PackAudit {
  readonly pack: string;
  readonly version?: string;
  readonly outcome: string;
  readonly at_unix: number;
  readonly duration_ms?: number;
  readonly learn_inputs?: Readonly<Record<string, string>>;
  /** At most 50. */
  readonly findings?: readonly AuditFinding[];
}

/** One run of a pipeline. `outcome` is "succeeded", "failed" or "cancelled". */
export interface PipelineAudit {
  readonly pipeline: string;
  readonly run_id: string;
  readonly outcome: string;
  readonly at_unix: number;
  readonly duration_ms?: number;
  readonly learn_inputs?: Readonly<Record<string, string>>;
}
