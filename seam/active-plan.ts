/**
 * Selects the plan that a process works on: the named one, else the one in the project's marker, else the single plan.
 *
 * Risk: a half-written marker, a renamed plan, or a repository with its own marker makes a process follow, and write progress
 * into, the wrong plan. So an existing marker is never ignored: it must name an existing plan, or this fails. A name is only
 * part of a file name, so it cannot lead out of the folder.
 */
import { dirname, join } from "node:path";
import { HelmdeckError, harmlessLine } from "../engine/reader.ts";
import { readBeginning, readSmallFile } from "./small-file.ts";

/** File names, without a folder. */
export interface PlanFiles {
  readonly plan: string;
  readonly progress: string;
}

const SINGLE_PLAN: PlanFiles = { plan: "PLAN.md", progress: "progress.md" };

/** Names are far shorter, so a larger file is not a marker. */
const MOST_MARKER_BYTES = 4_096;
/** A plan counts as blank if its first megabyte is blank. */
const BEGINNING_BYTES = 1_024 * 1_024;
const SHOWN_CHARACTERS = 80;

/** The named plan; does not check that it exists. Throws `invalid_input` for an unsafe name. */
export function namedPlan(name: string): PlanFiles {
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
export async function boundPlan(root: string, stateFolder: string): Promise<PlanFiles> {
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
  if (file.kind === "absent") throw corrupt(marker, `names a plan that is not in ${folderOf(plan)}`, raw);
  if (file.kind === "unusable") throw corrupt(marker, `names a plan that ${file.why}`, raw);
  if (file.text.trim() === "") throw corrupt(marker, "names a plan that is blank", raw);
}

function folderOf(path: string): string {
  return harmlessLine(dirname(path));
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
