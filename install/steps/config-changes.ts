/** How a step writes to OpenClaw's configuration: it notes how it left the file, so that a change by others is seen. */

import { type ConfigSection, patchAt, patchBetween, withSetting } from "../config-section.ts";
import type { JournalFacts } from "../installation-facts.ts";
import { fingerprint } from "../journal.ts";
import { at, type Json, type JsonObject } from "../openclaw-json.ts";
import { requireOpenClaw, type StepContext } from "./step-definition.ts";

/** Nobody else wrote to it since the copy was made: then that copy may be put back byte for byte. */
export function isConfigAsLeft({ hasConfigCopy, configIsAsLeft }: JournalFacts): boolean {
  return hasConfigCopy && configIsAsLeft;
}

export async function writeConfig(
  path: string,
  context: StepContext,
  write: () => Promise<void>,
): Promise<void> {
  const openclaw = requireOpenClaw(context);
  const { journal } = context.environment;
  const isAsLeft = fingerprint(await openclaw.readConfigFile(path)) === journal.entries.leftAs;
  await write();
  const leftAs = isAsLeft ? fingerprint(await openclaw.readConfigFile(path)) : "changed by others";
  await journal.record({ leftAs });
}

/** Writes nothing when the patch is empty. */
export async function patchConfig(path: string, context: StepContext, patch: JsonObject): Promise<void> {
  if (Object.keys(patch).length === 0) return;
  await writeConfig(path, context, () => requireOpenClaw(context).patchConfig(patch));
}

/** The patch that makes a setting in its section. */
export function settingPatch(
  section: ConfigSection,
  config: Json | undefined,
  setting: JsonObject,
): JsonObject {
  const now = at(config, ...section.path);
  return patchAt(section.path, patchBetween(now, withSetting(section, now, setting)));
}
