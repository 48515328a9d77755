/** The viewer of the pages, and what this person may see and change. The serving surface gets this from its host. */
import type { DoctorReport, Memory } from "../app/memory.ts";
import type { NotesCount } from "../app/traces/find-traces.ts";

export interface Viewer {
  /** The serving surface sets its deadlines. */
  readonly memory: Memory;
  /** The subject whose memory is shown. */
  readonly subject: string;
  /** The memories that this person may see, including the current one; empty if there is no choice. */
  readonly choices: readonly MemoryChoice[];
  /** `counts`: only the number of entries, no keys and no values. */
  readonly sees: "values" | "counts";
  readonly changes: Changes;
  /** An operator sees who has entries, and how many. */
  readonly seesCallers: boolean;
  /** Absent: this person does not run the server, so the storage location and its problems are not shown. */
  readonly doctor?: () => Promise<DoctorReport>;
  /** In how many of OpenClaw's notes stands what a scope covers. Absent for whoever does not run the server. */
  readonly notesHolding?: (scope: string) => Promise<NotesCount | undefined>;
  /** What memory did unasked for this subject, newest first. Absent in every process but OpenClaw's gateway, which alone knows. */
  readonly unasked?: () => readonly UnaskedTurn[];
}

/** One message of a person. */
export interface UnaskedTurn {
  readonly at: number;
  /** Its first words. Absent for a session that leaves nothing behind. */
  readonly message?: string;
  /** In words, if nothing was looked up or kept. */
  readonly outcome?: string;
  readonly added: readonly FactNamed[];
  readonly withheld: readonly FactNamed[];
  /** The key of the request that was kept. */
  readonly kept?: string;
}

/** A fact by its key, without its value. */
export interface FactNamed {
  readonly key: string;
  readonly why: string;
}

/** A memory to choose with `?agent=<id>`. */
interface MemoryChoice {
  readonly id: string;
  readonly isShown: boolean;
}

/** How to change memory from a page: with a form, or with a command to copy. */
export type Changes =
  | {
      readonly kind: "commands";
      /** The program in front of a memory command, such as `openclaw helmdeck`. */
      readonly program: string;
      /** Options after the command, such as `--agent work`. */
      readonly options: string;
      /** What opens pages that can change this memory. Absent if it is on another machine. */
      readonly openCommand?: string;
    }
  | {
      readonly kind: "forms";
      /** The `form_token` field of each form. The serving surface checks it before the pages see the request. */
      readonly formToken: string;
      /** The writer recorded with changes. */
      readonly writer: { readonly surface: string; readonly agent?: string };
      /** The sign-out address, by POST with the token; absent without sign-in. */
      readonly signOutPath?: string;
    };
