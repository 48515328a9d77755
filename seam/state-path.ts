/** Finds a project's plan and progress files: in the project, or in the state folder of all projects. */
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
