/** Keeps a copy of OpenClaw's configuration before the first change, and restores it exactly if nobody changed the file since. */
import { HelmdeckError } from "../../engine/errors.ts";
import { fingerprint } from "../journal.ts";
import { isConfigAsLeft } from "./config-changes.ts";
import { EXIT, requireOpenClaw, type StepDefinition } from "./step-definition.ts";

interface BackUpConfig {
  readonly kind: "back-up-config";
  readonly configPath: string;
}
interface RestoreConfigCopy {
  readonly kind: "restore-config-copy";
  readonly configPath: string;
}

export const backUpConfig: StepDefinition<BackUpConfig, RestoreConfigCopy> = {
  kind: "back-up-config",
  title: ({ configPath }) => `keep a copy of ${configPath}`,
  exitCode: EXIT.openclaw,
  // Changes only the journal, which names the copy after it exists.
  run: async ({ configPath }, context) => {
    const { journal } = context.environment;
    const bytes = await requireOpenClaw(context).readConfigFile(configPath);
    if (bytes !== undefined) await journal.keepCopy(bytes);
    await journal.record({
      config: { path: configPath, existed: bytes !== undefined },
      leftAs: fingerprint(bytes),
    });
  },
  undo: {
    kind: "restore-config-copy",
    title: ({ configPath }) => `restore ${configPath} exactly, because nobody changed it since`,
    exitCode: EXIT.openclaw,
    plan: ({ journal, openclaw }) =>
      openclaw !== undefined && isConfigAsLeft(journal)
        ? { kind: "restore-config-copy", configPath: openclaw.configPath }
        : undefined,
    record: (_, { environment: { journal } }) =>
      journal.entries.search === undefined ? {} : { indexDue: true },
    run: async ({ configPath }, context) => {
      const copy = await context.environment.journal.readCopy();
      if (copy === undefined) throw new HelmdeckError("not_found", `The copy of ${configPath} is gone.`);
      await requireOpenClaw(context).writeConfigFile(configPath, copy);
    },
    forgets: ["search", "facts", "auditTools", "speakUp", "keepAYear", "config", "leftAs"],
  },
};
