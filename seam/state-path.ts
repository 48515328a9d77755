/** Where a project's plan and progress lie: beside the project, or in the folder that is configured for all of them. */
import { stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { HelmdeckError } from "../engine/reader.ts";
import { boundPlan, namedPlan } from "./active-plan.ts";
import { projectPrefix } from "./project-keys.ts";
import { type OnNote, STATE_FILES, type StateFile } from "./seam-contract.ts";

export interface StateRequest {
  readonly root: string;
  /** Blank counts as none. */
  readonly plan?: string;
  /** Asked only when a state folder is configured. */
  readonly findProject: () => Promise<string | undefined>;
  /** The state folder of all projects, if one is configured. */
  readonly stateDir?: string;
  readonly onNote: OnNote;
}

/** See `Seam.statePath`. */
export async function findStatePath(request: StateRequest, which: StateFile): Promise<string> {
  if (!STATE_FILES.includes(which)) {
    throw new HelmdeckError("invalid_input", `Ask for the path of ${STATE_FILES.join(" or ")}.`, {
      details: { field: "which" },
    });
  }
  const folder = await stateFolderOf(request);
  const plan = request.plan?.trim() ?? "";
  const files = plan === "" ? await boundPlan(request.root, folder) : namedPlan(plan);
  return join(folder, files[which]);
}

/** A project's own part of the configured folder, so that no project gets another's PLAN.md; else the project's `.harness`. */
async function stateFolderOf({ root, stateDir, findProject, onNote }: StateRequest): Promise<string> {
  const local = join(root, ".harness");
  if (stateDir === undefined) return local;
  if (!isAbsolute(stateDir)) {
    throw new HelmdeckError("invalid_input", "The state folder must be given as an absolute path.", {
      details: { field: "stateDir" },
    });
  }
  if (!(await isFolder(stateDir))) {
    onNote(`The state folder ${stateDir} is not there, so the project's own .harness is used.`);
    return local;
  }
  const project = await findProject();
  if (project === undefined) {
    onNote("This folder belongs to no project that can be told, so its own .harness is used.");
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
