/**
 * Lists the files in which a forgotten text may stand, notes first.
 *
 * Links are not followed: an agent writes in these folders, and could plant one to a file that it may not read. Files of another
 * account are named and not read.
 */
import type { Stats } from "node:fs";
import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { systemCodeOf } from "../../engine/errors.ts";
import { LINK } from "../open-in-place.ts";
import type { OpenClawPlace, Unsearched } from "./openclaw-place.ts";

export type TraceKind = "note" | "dream" | "index" | "transcript" | "state" | "export" | "import" | "file";

export interface Candidate {
  readonly path: string;
  readonly kind: TraceKind;
  readonly sizeBytes: number;
  readonly changedAt: number;
  /** Markdown of a workspace, whose lines can be taken out. */
  readonly isEditable: boolean;
}

export interface Listed {
  readonly files: readonly Candidate[];
  readonly unread: readonly Unsearched[];
}

/** Folders that are named and not searched. */
const NOT_SEARCHED: ReadonlyMap<string, string> = new Map([
  [".git", "a compressed history of versions"],
  ["node_modules", "installed programs"],
  ["plugin-captures", "copies of installed programs"],
  ["_openclaw-pack-archives", "copies of installed programs"],
]);
const MOST_FILES = 50_000;
const ORDER: readonly TraceKind[] = [
  "note",
  "dream",
  "export",
  "import",
  "index",
  "transcript",
  "state",
  "file",
];

interface Named {
  /** What OpenClaw indexes outside of workspaces. */
  readonly extraPaths: readonly string[];
  /** Files that we wrote in plain text. */
  readonly exports: readonly string[];
  /** Files that we read. */
  readonly imports: readonly string[];
  /** Our key, and our database, whose values are encrypted. */
  readonly skips: readonly string[];
}

export async function listCandidates(
  place: OpenClawPlace,
  { exports, imports, extraPaths, skips }: Named,
): Promise<Listed> {
  const walk = new Walk(skips, await ownerOf(place.stateDir));
  for (const { path } of place.workspaces) await walk.workspace(path);
  for (const path of extraPaths) await walk.named(path, inWorkspace);
  await walk.state(place.stateDir);
  for (const path of exports) await walk.named(path, () => ({ kind: "export", isEditable: false }));
  for (const path of imports) await walk.named(path, () => ({ kind: "import", isEditable: false }));
  return walk.listed();
}

/** Only the notes and dreams of one workspace. */
export async function listNotes(workspace: string): Promise<Listed> {
  const walk = new Walk([], await ownerOf(workspace));
  await walk.workspace(workspace);
  const { files, unread } = walk.listed();
  return { files: files.filter(({ isEditable }) => isEditable), unread };
}

async function ownerOf(folder: string): Promise<number | undefined> {
  return (await lstat(folder).catch(() => undefined))?.uid;
}

type Classify = (inFolder: string) => Pick<Candidate, "kind" | "isEditable">;

class Walk {
  readonly #files = new Map<string, Candidate>();
  readonly #unread = new Map<string, string>();
  readonly #skips: ReadonlySet<string>;
  readonly #owner: number | undefined;

  constructor(skips: readonly string[], owner: number | undefined) {
    this.#skips = new Set(skips);
    this.#owner = owner;
  }

  /** The folder itself may be a link, because the operator names it. */
  async workspace(folder: string): Promise<void> {
    const root = await this.#real(folder, undefined);
    if (root !== undefined) await this.#folder(root, root, inWorkspace);
  }

  async state(folder: string): Promise<void> {
    const root = await this.#real(folder, undefined);
    if (root !== undefined) await this.#folder(root, root, inState);
  }

  /** A file or folder that a person named. */
  async named(path: string, classify: Classify): Promise<void> {
    const real = await this.#real(path, "is no longer there; it may have been moved");
    if (real !== undefined) await this.#entry(real, classify, dirname(real));
  }

  async #real(path: string, whyAbsent: string | undefined): Promise<string | undefined> {
    return realpath(path).catch((error: unknown) => {
      const isAbsent = /^(ENOENT|ENOTDIR)$/.test(systemCodeOf(error));
      const why = isAbsent ? whyAbsent : reasonOf(error);
      if (why !== undefined) this.#unread.set(path, why);
      return undefined;
    });
  }

  listed(): Listed {
    const files = [...this.#files.values()];
    return {
      files: files.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)),
      unread: [...this.#unread].map(([path, why]) => ({ path, why })),
    };
  }

  async #folder(folder: string, root: string, classify: Classify): Promise<void> {
    let names: readonly string[];
    try {
      names = (await readdir(folder)).toSorted();
    } catch (error) {
      this.#unread.set(folder, reasonOf(error));
      return;
    }
    for (const name of names) await this.#entry(join(folder, name), classify, root);
  }

  async #entry(path: string, classify: Classify, root: string): Promise<void> {
    if (this.#files.has(path) || this.#unread.has(path) || this.#skips.has(path)) return;
    if (path.endsWith("-shm")) return; // numbers of pages, shared by the processes that have the database open
    if (this.#files.size >= MOST_FILES) {
      this.#unread.set(root, `has more than ${MOST_FILES} files; the rest was not searched`);
      return;
    }
    const stats = await lstat(path).catch((error: unknown) => reasonOf(error));
    const why = typeof stats === "string" ? stats : this.#whyNot(path, stats);
    if (why !== undefined) this.#unread.set(path, why);
    else if (typeof stats !== "string") {
      if (stats.isDirectory()) {
        await this.#folder(path, root, classify);
      } else if (stats.isFile()) {
        const kind = classify(relative(root, path).split(sep).join("/"));
        this.#files.set(path, { path, ...kind, sizeBytes: stats.size, changedAt: stats.mtimeMs });
      }
    }
  }

  #whyNot(path: string, stats: Stats): string | undefined {
    if (stats.isSymbolicLink()) return `${LINK}, not followed`;
    if (!stats.isFile() && !stats.isDirectory()) return undefined;
    if (this.#owner !== undefined && stats.uid !== this.#owner) return "belongs to another account";
    return stats.isDirectory() ? NOT_SEARCHED.get(basename(path)) : undefined;
  }
}

/** MEMORY.md, USER.md and daily notes; DREAMS.md and the reports of dreams; other Markdown. */
function inWorkspace(path: string): Pick<Candidate, "kind" | "isEditable"> {
  const isDream = /^(dreams\.md$|memory\/dreaming\/)/i.test(path);
  const isEditable = /\.md$/i.test(path);
  if (isDream) return { kind: "dream", isEditable };
  return { kind: isEditable ? "note" : "file", isEditable };
}

/** Databases are told apart by their tables when they are read. */
function inState(path: string): Pick<Candidate, "kind" | "isEditable"> {
  const isSession = /^agents\/[^/]+\/(sessions|agent)\/|^(sessions|transcripts)\//.test(path);
  if (isSession) return { kind: "transcript", isEditable: false };
  const inFolder = /^workspace[^/]*\/(.+)$/.exec(path)?.[1];
  if (inFolder !== undefined) return inWorkspace(inFolder);
  return { kind: path.startsWith("state/") ? "state" : "file", isEditable: false };
}

function reasonOf(error: unknown): string {
  const code = systemCodeOf(error);
  return code === "EACCES" || code === "EPERM" ? "permission was denied" : `the system says ${code}`;
}
