/** The shapes of audit rows. Those of packs and pipelines are helmdeck's; those of tools are ours. */

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

/** One call of any tool by an agent. */
export interface ToolAudit {
  readonly tool: string;
  readonly outcome: "ok" | "failed";
  readonly at_unix: number;
  readonly duration_ms?: number;
  /** Only inputs that are allowed for this tool, truncated. */
  readonly inputs?: Readonly<Record<string, string>>;
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
