/** Where OpenClaw keeps its notes and conversations, for commands outside of OpenClaw: from the environment and its configuration. */
import { dirname, join } from "node:path";
import { findStorage } from "../app/storage-location.ts";
import { type OpenClawPlace, openClawPlace } from "../app/traces/openclaw-place.ts";
import type { CommandContext } from "../commands/command-line.ts";
import { readGivenFile } from "../engine/given-file.ts";

/** Never rejects. */
export async function openClawHere({ shell }: Pick<CommandContext, "shell">): Promise<OpenClawPlace> {
  const { env, homeDir } = shell;
  const stateDir = dirname(findStorage({ env, homeDir }).keyPath);
  const around = { stateDir, env, homeDir: env.HOME ?? homeDir };
  const path = env.OPENCLAW_CONFIG_PATH?.trim() || join(stateDir, "openclaw.json");
  const read = await readGivenFile(path);
  try {
    if (!("text" in read)) throw new TypeError(read.problem);
    const { default: json5 } = await import("json5"); // few commands need it
    return openClawPlace(json5.parse(read.text), around);
  } catch {
    const usual = openClawPlace(undefined, around);
    if ("isMissing" in read && read.isMissing) return usual;
    return {
      ...usual,
      problem: { path, why: "is not readable, so workspaces that it names are unknown" },
    };
  }
}
