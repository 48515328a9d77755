/** Where OpenClaw keeps its notes and conversations, for commands outside of OpenClaw: from the environment and its configuration. */
import { dirname, join } from "node:path";
import { findStorage } from "../app/storage-location.ts";
import { type OpenClawPlace, openClawPlace } from "../app/traces/openclaw-place.ts";
import type { CommandContext } from "../commands/command-line.ts";
import { openClawConfig } from "./memory-options.ts";

/** Never rejects. */
export async function openClawHere({ shell }: Pick<CommandContext, "shell">): Promise<OpenClawPlace> {
  const { env, homeDir } = shell;
  const stateDir = dirname(findStorage({ env, homeDir }).keyPath);
  const around = { stateDir, env, homeDir: env.HOME ?? homeDir };
  const path = env.OPENCLAW_CONFIG_PATH?.trim() || join(stateDir, "openclaw.json");
  try {
    return openClawPlace(await openClawConfig(path), around);
  } catch {
    return {
      ...openClawPlace(undefined, around),
      problem: { path, why: "is not readable, so workspaces that it names are unknown" },
    };
  }
}
