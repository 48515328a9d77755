/** The shapes of audit rows: of packs and pipelines as helmdeck writes them (facts/helmdeck.md, "Audit rows"), and of any tool. */

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

/** One call of a tool that an agent used, whatever tool it was. */
export interface ToolAudit {
  readonly tool: string;
  readonly outcome: "ok" | "failed";
  readonly at_unix: number;
  readonly duration_ms?: number;
  /** Only those that were allowed for this tool, cut. */
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
