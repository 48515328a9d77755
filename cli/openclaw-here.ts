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
  try {
    return openClawPlace(await openClawConfig(path), around);
  } catch {
    return {
      ...openClawPlace(undefined, around),
      problem: { path, why: "is not readable, so workspaces that it names are unknown" },
    };
  }
}

/** Undefined if there is none. Throws if it cannot be read. */
export async function openClawConfig(path: string): Promise<unknown> {
  const read = await readGivenFile(path);
  if ("isMissing" in read && read.isMissing) return undefined;
  if (!("text" in read)) throw new TypeError(read.problem);
  const { default: json5 } = await import("json5"); // few commands need it
  return json5.parse(read.text);
}
