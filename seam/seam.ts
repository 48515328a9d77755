/**
 * The seam for one consumer: recalls, and finds where a candidate would be saved. Each query opens one caller's memory
 * read-only and writes nothing.
 *
 * Absent memory is a normal, immediate answer: no database, nothing stored yet, no key, or a lock. An existing memory that
 * cannot be trusted (a wrong key, a damaged file) is an error, because a process that gets "nothing" would continue as if
 * nothing were known. Nothing is created: no folder, no key, no table.
 */
import { resolve } from "node:path";
import {
  DEFAULT_CATEGORY,
  type Entry,
  findKey,
  HelmdeckError,
  isHelmdeckError,
  isReservedCategory,
  type KeyPlaces,
  type MemoryReader,
  type Namespace,
  namespaceOf,
  openSqliteReader,
  type SqliteDriver,
  type Subject,
} from "../engine/reader.ts";
import { digestOf, findProject, projectKey } from "./project.ts";
import { recallProject } from "./recall-here.ts";
import type { FactHere, FactsHere, OnNote, RankFacts, SaveOffer, SaveTarget, Seam } from "./seam-contract.ts";
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
  const { memory, subject, rank, onNote = () => {} } = options;
  const rootOf = (cwd: string | undefined): string => {
    const root = resolve(options.cwd, cwd ?? "");
    if (!root.includes("\0")) return root;
    throw new HelmdeckError("invalid_input", "cwd contains a NUL character, so it is not a folder name.", {
      details: { field: "cwd" },
    });
  };
  const projectAt = (root: string) => findProject(root, memory.env, onNote);
  return {
    recallHere: async (context, recall) => {
      const { cwd, phase } = context ?? {};
      const project = await projectAt(rootOf(cwd));
      const request = { ...recall, project, ...(phase !== undefined && { phase }) };
      const asked = await askReader(memory, (reader) =>
        recallProject({ facts: factsOf(reader, namespaceOf(subject)), rank, env: memory.env }, request),
      );
      const notes = asked.kind === "absent" ? [absence(asked.why)] : asked.answer.notes;
      for (const note of notes) onNote(note);
      return asked.kind === "absent" ? "" : asked.answer.text;
    },
    offerSaveHere: async (context, candidate) => {
      const { cwd, phase } = context ?? {};
      const project = await projectAt(rootOf(cwd));
      if (project === undefined) {
        onNote("Nothing to offer: the project of this folder is unknown.");
        return [];
      }
      const offers = offersFor(candidate, { project, subject, ...(phase !== undefined && { phase }) });
      if (offers.length === 0) {
        onNote("Nothing to offer: the candidate is empty.");
        return [];
      }
      const asked = await askReader(memory, async () => offers);
      if (asked.kind === "answered") return asked.answer;
      onNote(absence(asked.why));
      return [];
    },
    statePath: (context, which) => {
      const { cwd, plan } = context ?? {};
      const root = rootOf(cwd);
      const stateDir = options.stateDir?.trim();
      const places = { ...(plan !== undefined && { plan }), ...(stateDir && { stateDir }) };
      return findStatePath({ root, findProject: () => projectAt(root), onNote, ...places }, which);
    },
  };
}

function absence(why: string): string {
  return `Memory is absent: ${why}`;
}

/** Dev loops' names for kinds of entries, with the category from which recall reads them. */
const CATEGORY_OF_KIND: Readonly<Record<string, string>> = {
  always: "always",
  convention: "always",
  conventions: "always",
  preference: "always",
  index: "index",
  decision: "decisions",
  decisions: "decisions",
  issue: "known_issues",
  known_issue: "known_issues",
  known_issues: "known_issues",
  gotcha: "known_issues",
  question: "open_questions",
  open_question: "open_questions",
  open_questions: "open_questions",
  wiki_style: "wiki_style",
};

interface OfferContext {
  readonly project: string;
  readonly subject: Subject;
  readonly phase?: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Empty for an empty candidate. A value that is not an object counts as a candidate's body. */
function offersFor(candidate: unknown, here: OfferContext): readonly SaveOffer[] {
  // Empty as in dynamic languages: null, "", 0, false, an empty object or list.
  if (!candidate || (typeof candidate === "object" && Object.keys(candidate).length === 0)) return [];
  const given: Fields = isFields(candidate) ? candidate : { body: candidate };
  const { project = here.project } = given;
  return [
    {
      ...given,
      project,
      ...(here.phase !== undefined && given.phase === undefined && { phase: here.phase }),
      target: targetFor(given, here),
    },
  ];
}

function targetFor({ kind, slug, body }: Fields, { project, subject }: OfferContext): SaveTarget {
  const category = categoryOf(kind);
  const written = typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body);
  const text = written === undefined || written.trim() === "" ? undefined : written;
  const name = typeof slug === "string" && slug.trim() !== "" ? slug.trim().toWellFormed() : undefined;
  const key = projectKey(project, category, name ?? digestOf(text ?? ""));
  return {
    namespace: namespaceOf(subject),
    key,
    category,
    ...(text !== undefined && { arguments: { key, category, value: text } }),
  };
}

/** A kind that no phase recalls becomes a category of the same name, which search finds. */
function categoryOf(kind: unknown): string {
  if (typeof kind !== "string") return DEFAULT_CATEGORY;
  const name = kind
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
  const known = Object.hasOwn(CATEGORY_OF_KIND, name) ? CATEGORY_OF_KIND[name] : undefined;
  if (known !== undefined) return known;
  return /^[a-z0-9][a-z0-9_.]{0,63}$/.test(name) && !isReservedCategory(name) ? name : DEFAULT_CATEGORY;
}

function isFields(candidate: unknown): candidate is Fields {
  return typeof candidate === "object" && candidate !== null && !Array.isArray(candidate);
}

/** The storage location, from the calling surface. */
interface MemoryHere extends KeyPlaces {
  readonly driver: SqliteDriver;
  /** Opens a database on a server to read, in place of the one at `databasePath`. */
  readonly openServer?: () => Promise<MemoryReader>;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

type Asked<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "absent"; readonly why: string };

/** Runs one query and closes memory again. Throws any error that does not mean absence. */
export async function askReader<Answer>(
  place: MemoryHere,
  question: (reader: MemoryReader) => Promise<Answer>,
): Promise<Asked<Answer>> {
  try {
    const reader = await openReader(place);
    try {
      return { kind: "answered", answer: await question(reader) };
    } finally {
      await reader.close();
    }
  } catch (error) {
    if (error instanceof Absent) return { kind: "absent", why: error.message };
    if (!isHelmdeckError(error)) throw error;
    const { code, details, message: why } = error;
    if (code === "key_missing" || code === "store_locked") return { kind: "absent", why };
    if (code === "store_unavailable" && details.nothingStored === true) return { kind: "absent", why };
    throw error;
  }
}

async function openReader(place: MemoryHere): Promise<MemoryReader> {
  if (place.openServer !== undefined) return place.openServer();
  const found = await findKey(place);
  if (found === undefined) throw new Absent("there is no key and no database yet");
  const { driver, databasePath: path, now } = place;
  return openSqliteReader({ path, key: found.key, driver, busyTimeoutMs: 0, ...(now && { now }) });
}

/** The facts of one namespace, without access to others. */
function factsOf(reader: MemoryReader, namespace: Namespace): FactsHere {
  return {
    listFacts: async (query) => {
      const { entries, unreadable, nextCursor } = await reader.list({ namespace, origin: "fact", ...query });
      return {
        facts: entries.map(factOf),
        unreadable: unreadable.map(({ key }) => key),
        ...(nextCursor !== undefined && { nextCursor }),
      };
    },
  };
}

function factOf({ key, value, category, tags, createdAt, updatedAt }: Entry): FactHere {
  return { key, value: Buffer.from(value).toString(), category, tags, createdAt, updatedAt };
}

class Absent extends Error {}
