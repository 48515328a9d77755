/**
 * Which plan a process works on: the one it names, else the one that the project's marker binds it to, else the single plan.
 *
 * Who attacks: chance, mostly; a marker half written, a plan renamed, a repository with a marker of its own. What is at stake is
 * a process that follows, and writes progress into, another plan than it was given. So a marker that is there is never passed
 * over: it names a plan that is there, or nothing is answered. And a name is one part of a file name, so that none leads out of
 * the folder.
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

/** A name is far shorter; a marker that is larger is something else. */
const MOST_MARKER_BYTES = 4_096;
/** A plan whose first megabyte is blank is blank. */
const BEGINNING_BYTES = 1_024 * 1_024;
const SHOWN_CHARACTERS = 80;

/** The plan that is named; whether it is there is the caller's to know. Throws `invalid_input` for a name that is unsafe. */
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
 * The plan that `.harness/active-plan` binds the project to; the single plan when there is no marker at all.
 *
 * @throws `active_plan_corrupt` when there is one that does not name a plan with something in it
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

/** `foo` of `foo`, `PLAN-foo` and `PLAN-foo.md`; undefined for the single plan, and for nothing. */
function slugIn(raw: string): string | undefined {
  const name = raw.trim();
  if (name === "" || name === "PLAN" || name === "PLAN.md") return undefined;
  return name.replace(/\.md$/, "").replace(/^PLAN-/, "");
}

/** Why a slug cannot be one part of a file name that a shell prints on one line; undefined when it can. */
function problemOf(slug: string): string | undefined {
  if (slug === "") return "is no more than a beginning or an ending";
  if (slug === "." || slug === "..") return "is a folder, not a name";
  if (/[/\\]/.test(slug)) return "holds a slash";
  if (harmlessLine(slug) !== slug) return "holds control or invisible characters";
  return undefined;
}

function filesOf(slug: string): PlanFiles {
  return { plan: `PLAN-${slug}.md`, progress: `progress-${slug}.md` };
}

function whyNoName(raw: string): string {
  return raw.trim() === "" ? "is blank" : "names the single plan, and is for named plans only";
}

function corrupt(marker: string, why: string, raw?: string): HelmdeckError {
  const value = raw === undefined ? "" : ` Its value is ${shown(raw.trim())}.`;
  return new HelmdeckError(
    "active_plan_corrupt",
    `The marker ${harmlessLine(marker)} ${why}.${value} Write the name of a plan that is there into it, or delete it to work on PLAN.md.`,
    { details: { path: marker } },
  );
}

/** Quoted, on one line, of bounded length: it is printed in terminals and read by models. */
function shown(name: string): string {
  const characters = Array.from(harmlessLine(name.slice(0, MOST_MARKER_BYTES)));
  const tail = characters.length > SHOWN_CHARACTERS ? "…" : "";
  return JSON.stringify(`${characters.slice(0, SHOWN_CHARACTERS).join("")}${tail}`);
}
