/** The steps of --purge and the last one of --uninstall: what is remembered goes, then the journal. */
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { HelmdeckError } from "../../app/index.ts";
import { requireOpenClaw, type Work } from "../step-context.ts";
import type { Step } from "./step-kinds.ts";

type Of<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>;

export async function deleteMemory({ databasePath, keyPath }: Of<"delete-memory">): Promise<void> {
  // The folder is ours alone where it has its usual name; elsewhere only the database's own files are.
  const isOurFolder = dirname(databasePath).endsWith("/helmdeck-memory");
  const files = ["", "-wal", "-shm"].map((ending) => `${databasePath}${ending}`);
  for (const path of isOurFolder ? [dirname(databasePath)] : files)
    await rm(path, { recursive: true, force: true });
  await rm(keyPath, { force: true });
}

export async function deleteMemoryInContainer(
  step: Of<"delete-memory-in-container">,
  work: Work,
): Promise<void> {
  const script = `cd "\${OPENCLAW_STATE_DIR:-$HOME/.openclaw}" && rm -rf helmdeck-memory helmdeck-memory.key`;
  const ran = await requireOpenClaw(work).exec(["sh", "-c", script]);
  if (ran.exitCode !== 0)
    throw new HelmdeckError(
      "store_unavailable",
      `What is remembered in ${step.container} could not be deleted.`,
    );
}

export async function forgetJournal(_step: Of<"forget-journal">, { world, warn }: Work): Promise<void> {
  const { journal } = world;
  // Not put back byte for byte: then a person may still want it, for its comments.
  const isWanted = journal.entries.config?.existed === true;
  if (isWanted) warn(`The configuration from before the installation stays at ${journal.copyPath}.`);
  await journal.forget({ keepCopy: isWanted });
}
