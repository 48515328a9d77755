/** Permanently deletes the memory in OpenClaw's container, and its key. */
import { HelmdeckError } from "../../engine/errors.ts";
import { EXIT } from "../installer-exit-codes.ts";
import { requireOpenClaw } from "../step-context.ts";
import type { StepDefinition } from "./step-definition.ts";

interface DeleteMemoryInContainer {
  readonly kind: "delete-memory-in-container";
  readonly container: string;
}

const DELETE = `cd "\${OPENCLAW_STATE_DIR:-$HOME/.openclaw}" && rm -rf helmdeck-memory helmdeck-memory.key`;

export const deleteMemoryInContainer: StepDefinition<DeleteMemoryInContainer> = {
  kind: "delete-memory-in-container",
  title: ({ container }) => `delete the memory in ${container} and its key`,
  exitCode: EXIT.openclaw,
  run: async ({ container }, context) => {
    const ran = await requireOpenClaw(context).exec(["sh", "-c", DELETE]);
    if (ran.exitCode !== 0)
      throw new HelmdeckError("store_unavailable", `The memory in ${container} could not be deleted.`);
  },
};
