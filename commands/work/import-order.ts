/** What was asked of `import` by its options. */
import type { ConflictRule, ImportFormat } from "../../app/index.ts";

export interface ImportOrder {
  readonly files: readonly string[];
  readonly from?: ImportFormat;
  /** With the three that follow: of helmdeck's database. */
  readonly keyFile?: string;
  /** Each `FROM=TO`. */
  readonly map: readonly string[];
  readonly stopped: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly ttlSeconds?: number;
  /** What looks like a credential goes in all the same. */
  readonly allowSecrets: boolean;
  readonly onConflict: ConflictRule;
}
