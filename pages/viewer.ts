/** Who looks at the pages, and what this person may see and change; the surface that serves them knows it from its host. */
import type { DoctorReport, Memory } from "../app/index.ts";

export interface Viewer {
  /** Bounded in time by whoever serves the pages. */
  readonly memory: Memory;
  /** Whose memory is shown. */
  readonly subject: string;
  /** Others that this person may look at, the one that is shown among them; none: there is nothing to choose. */
  readonly choices: readonly MemoryChoice[];
  /** `counts`: neither keys nor values, only how many there are. */
  readonly sees: "values" | "counts";
  readonly changes: Changes;
  /** An operator: sees who has entries, and how many. */
  readonly seesCallers: boolean;
  /** Absent: this person does not run the machine, so where memory lies and what is wrong there is not shown. */
  readonly doctor?: () => Promise<DoctorReport>;
}

/** A memory to look at: `?agent=<id>`. */
interface MemoryChoice {
  readonly id: string;
  readonly isShown: boolean;
}

/** How something is changed from a page: by a form, or by a command that is shown to be copied. */
export type Changes =
  | {
      readonly kind: "commands";
      /** What stands before a memory command and its arguments, such as `openclaw helmdeck`. */
      readonly program: string;
      /** What stands behind it, such as `--agent work`. */
      readonly options: string;
    }
  | {
      readonly kind: "forms";
      /** Stands in each form as `form_token`; whoever serves the pages checks it before they see the request. */
      readonly formToken: string;
      /** Whose name changes are written under. */
      readonly writer: { readonly surface: string; readonly agent?: string };
      /** Where to sign out, by POST with the token; absent where nobody signs in. */
      readonly signOutPath?: string;
    };
