/** The seam for one consumer, with its memory, caller and ranking. */
import { resolve } from "node:path";
import { HelmdeckError, namespaceOf, type Subject } from "../engine/reader.ts";
import { askMemory, type MemoryHere } from "./memory-here.ts";
import { offersFor } from "./offer.ts";
import { findProject } from "./project.ts";
import { recallProject } from "./recall-here.ts";
import type { HereContext, OnNote, RankFacts, RecallHereOptions, Seam, StateFile } from "./seam-contract.ts";
import { findStatePath } from "./state-path.ts";

export interface SeamOptions {
  readonly memory: MemoryHere;
  /** Whose memory. */
  readonly subject: Subject;
  readonly rank: RankFacts;
  /** The folder to use if a context names none. */
  readonly cwd: string;
  /** A folder for the state of all projects; blank or missing counts as none. */
  readonly stateDir?: string;
  readonly onNote?: OnNote;
}

/** Opens nothing yet: each query opens memory read-only and closes it. */
export function createSeam(options: SeamOptions): Seam {
  const here = new Here(options);
  return {
    recallHere: (context, recall) => here.recall(context ?? {}, recall ?? {}),
    offerSaveHere: (context, candidate) => here.offer(context ?? {}, candidate),
    statePath: (context, which) => here.statePath(context ?? {}, which),
  };
}

class Here {
  readonly #options: SeamOptions;
  readonly #onNote: OnNote;

  constructor(options: SeamOptions) {
    this.#options = options;
    this.#onNote = options.onNote ?? (() => {});
  }

  async recall({ cwd, phase }: HereContext, options: RecallHereOptions): Promise<string> {
    const { memory, subject, rank } = this.#options;
    const project = await this.#findProject(this.#rootOf(cwd));
    const request = { ...options, project, ...(phase !== undefined && { phase }) };
    const asked = await askMemory(memory, namespaceOf(subject), (facts) =>
      recallProject({ facts, rank, env: memory.env }, request),
    );
    if (asked.kind === "absent") {
      this.#onNote(absence(asked.why));
      return "";
    }
    for (const note of asked.answer.notes) this.#onNote(note);
    return asked.answer.text;
  }

  async offer(
    { cwd, phase }: HereContext,
    candidate: unknown,
  ): Promise<Awaited<ReturnType<Seam["offerSaveHere"]>>> {
    const { memory, subject } = this.#options;
    const project = await this.#findProject(this.#rootOf(cwd));
    if (project === undefined) {
      this.#onNote("Nothing to offer: the project of this folder is unknown.");
      return [];
    }
    const offers = offersFor(candidate, { project, subject, ...(phase !== undefined && { phase }) });
    if (offers.length === 0) {
      this.#onNote("Nothing to offer: the candidate is empty.");
      return [];
    }
    const asked = await askMemory(memory, namespaceOf(subject), async () => offers);
    if (asked.kind === "answered") return asked.answer;
    this.#onNote(absence(asked.why));
    return [];
  }

  statePath({ cwd, plan }: HereContext, which: StateFile): Promise<string> {
    const root = this.#rootOf(cwd);
    const stateDir = this.#options.stateDir?.trim();
    const request = {
      root,
      findProject: () => this.#findProject(root),
      onNote: this.#onNote,
      ...(plan !== undefined && { plan }),
      ...(stateDir && { stateDir }),
    };
    return findStatePath(request, which);
  }

  #findProject(root: string): Promise<string | undefined> {
    return findProject(root, this.#options.memory.env, this.#onNote);
  }

  #rootOf(cwd: string | undefined): string {
    const root = resolve(this.#options.cwd, cwd ?? "");
    if (!root.includes("\0")) return root;
    throw new HelmdeckError("invalid_input", "cwd contains a NUL character, so it is not a folder name.", {
      details: { field: "cwd" },
    });
  }
}

function absence(why: string): string {
  return `Memory is absent: ${why}`;
}
