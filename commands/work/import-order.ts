/** The options of `import`. */
import type { ConflictRule, ImportFormat } from "../../app/index.ts";

export interface ImportOrder {
  readonly files: readonly string[];
  readonly from?: ImportFormat;
  /** This and the next three options are for helmdeck's database. */
  readonly keyFile?: string;
  /** Each `FROM=TO`. */
  readonly map: readonly string[];
  readonly stopped: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly ttlSeconds?: number;
  /** Import texts even if they look like credentials. */
  readonly allowSecrets: boolean;
  readonly onConflict: ConflictRule;
}
