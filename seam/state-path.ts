/** Finds a project's plan and progress files: in the project, or in the state folder of all projects. */
import { stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { HelmdeckError, harmlessLine } from "../engine/reader.ts";
import { projectPrefix } from "./project.ts";
import { type OnNote, STATE_FILES, type StateFile } from "./seam-contract.ts";
import { readBeginning, readSmallFile } from "./small-file.ts";

export interface StateRequest {
  readonly root: string;
  /** Blank counts as none. */
  readonly plan?: string;
  /** Called only if a state folder is configured. */
  readonly findProject: () => Promise<string | undefined>;
  /** The state folder of all projects, if one is configured. */
  readonly stateDir?: string;
  readonly onNote: OnNote;
}

/** See `Seam.statePath`. */
export async function findStatePath(request: StateRequest, which: StateFile): Promise<string> {
  if (!STATE_FILES.includes(which)) {
    throw new HelmdeckError("invalid_input", `The state file must be ${STATE_FILES.join(" or ")}.`, {
      details: { field: "which" },
    });
  }
  const folder = await stateFolderOf(request);
  const plan = request.plan?.trim() ?? "";
  const files = plan === "" ? await boundPlan(request.root, folder) : namedPlan(plan);
  return join(folder, files[which]);
}

/** The project's own subfolder of the configured folder, so that projects do not share a PLAN.md; else the project's `.harness`. */
async function stateFolderOf({ root, stateDir, findProject, onNote }: StateRequest): Promise<string> {
  const local = join(root, ".harness");
  if (stateDir === undefined) return local;
  if (!isAbsolute(stateDir)) {
    throw new HelmdeckError("invalid_input", "The state folder must be given as an absolute path.", {
      details: { field: "stateDir" },
    });
  }
  if (!(await isFolder(stateDir))) {
    onNote(`The state folder ${stateDir} does not exist, so the project's own .harness is used.`);
    return local;
  }
  const project = await findProject();
  if (project === undefined) {
    onNote("The project of this folder is unknown, so its own .harness is used.");
    return local;
  }
  return join(stateDir, projectPrefix(project));
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

/** File names, without a folder. */
interface PlanFiles {
  readonly plan: string;
  readonly progress: string;
}

const SINGLE_PLAN: PlanFiles = { plan: "PLAN.md", progress: "progress.md" };

/** Names are far shorter, so a larger file is not a marker. */
const MOST_MARKER_BYTES = 4_096;
/** A plan counts as blank if its first megabyte is blank. */
const BEGINNING_BYTES = 1_024 * 1_024;
const SHOWN_CHARACTERS = 80;

/**
 * Selects the plan that a process works on: the named one, else the one in the project's marker, else the single plan.
 *
 * Risk: a half-written marker, a renamed plan, or a repository with its own marker makes a process follow, and write progress
 * into, the wrong plan. So an existing marker is never ignored: it must name an existing plan, or this fails. A name is only
 * part of a file name, so it cannot lead out of the folder.
 *
 * The named plan; does not check that it exists. Throws `invalid_input` for an unsafe name.
 */
function namedPlan(name: string): PlanFiles {
  const slug = slugIn(name);
  if (slug === undefined) return SINGLE_PLAN;
  const problem = problemOf(slug);
  if (problem === undefined) return filesOf(slug);
  throw new HelmdeckError(
    "invalid_input",
    `The plan ${shown(name)} is unsafe: it ${problem}. Name a plan such as foo, PLAN-foo or PLAN-foo.md.`,
    { details: { field: "plan" } },
  );
}

/**
 * The plan named by the marker `.harness/active-plan`; the single plan if there is no marker.
 *
 * @throws `active_plan_corrupt` if the marker does not name a plan with content
 */
async function boundPlan(root: string, stateFolder: string): Promise<PlanFiles> {
  const marker = join(root, ".harness", "active-plan");
  const file = await readSmallFile(marker, MOST_MARKER_BYTES);
  if (file.kind === "absent") return SINGLE_PLAN;
  if (file.kind === "unusable") throw corrupt(marker, file.why);
  const slug = slugIn(file.text);
  if (slug === undefined) throw corrupt(marker, whyNoName(file.text), file.text);
  const problem = problemOf(slug);
  if (problem !== undefined) throw corrupt(marker, `names no plan: it ${problem}`, file.text);
  const files = filesOf(slug);
  await requirePlan(join(stateFolder, files.plan), marker, file.text);
  return files;
}

async function requirePlan(plan: string, marker: string, raw: string): Promise<void> {
  const file = await readBeginning(plan, BEGINNING_BYTES);
  if (file.kind === "absent")
    throw corrupt(marker, `names a plan that is not in ${harmlessLine(dirname(plan))}`, raw);
  if (file.kind === "unusable") throw corrupt(marker, `names a plan that ${file.why}`, raw);
  if (file.text.trim() === "") throw corrupt(marker, "names a plan that is blank", raw);
}

/** `foo` for `foo`, `PLAN-foo` and `PLAN-foo.md`; undefined for the single plan, and for blank text. */
function slugIn(raw: string): string | undefined {
  const name = raw.trim();
  if (name === "" || name === "PLAN" || name === "PLAN.md") return undefined;
  return name.replace(/\.md$/, "").replace(/^PLAN-/, "");
}

/** Why a slug cannot be part of a one-line file name; undefined if it can. */
function problemOf(slug: string): string | undefined {
  if (slug === "") return "has only a prefix or an ending";
  if (slug === "." || slug === "..") return "is a folder, not a name";
  if (/[/\\]/.test(slug)) return "holds a slash";
  if (harmlessLine(slug) !== slug) return "holds control or invisible characters";
  return undefined;
}

function filesOf(slug: string): PlanFiles {
  return { plan: `PLAN-${slug}.md`, progress: `progress-${slug}.md` };
}

function whyNoName(raw: string): string {
  return raw.trim() === "" ? "is blank" : "names the single plan, but a marker is only for named plans";
}

function corrupt(marker: string, why: string, raw?: string): HelmdeckError {
  const value = raw === undefined ? "" : ` Its value is ${shown(raw.trim())}.`;
  return new HelmdeckError(
    "active_plan_corrupt",
    `The marker ${harmlessLine(marker)} ${why}.${value} Write the name of an existing plan into it, or delete it to work on PLAN.md.`,
    { details: { path: marker } },
  );
}

/** Quoted, on one line, with limited length, because it is printed in terminals and read by models. */
function shown(name: string): string {
  const characters = Array.from(harmlessLine(name.slice(0, MOST_MARKER_BYTES)));
  const tail = characters.length > SHOWN_CHARACTERS ? "…" : "";
  return JSON.stringify(`${characters.slice(0, SHOWN_CHARACTERS).join("")}${tail}`);
}
