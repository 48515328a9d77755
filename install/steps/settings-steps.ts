/**
 * The steps that point OpenClaw's search and helmdeck's facts at the embedding service, and those that take it back. Each part
 * of the configuration is recorded before it is changed, and put back without what others changed in it since.
 */

import { changeOf, FACTS, type Part, SEARCH, takenBack, withSetting } from "../config-section.ts";
import { fingerprint } from "../journal.ts";
import { at, isEqual, isObject, type Json, type JsonObject } from "../openclaw-json.ts";
import { factsSetting } from "../plan/plan-facts.ts";
import { searchSetting } from "../plan/plan-search.ts";
import { requireOpenClaw, type Work } from "../step-context.ts";
import { patchAt, patchBetween } from "../undo.ts";
import type { Step } from "./step-kinds.ts";

type Of<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>;
type Maybe = Json | undefined;

export async function pointSearch(step: Of<"point-search">, work: Work): Promise<void> {
  const openclaw = requireOpenClaw(work);
  const { journal } = work.world;
  const config = await openclaw.authoredConfig(step.configPath);
  const { search: earlier } = journal.entries;
  const set = searchSetting(step.model, step.baseUrl);
  const allowed = [...new Set([...(earlier?.allowed ?? []), ...step.allow])];
  const search = { ...changeOf(SEARCH, earlier, at(config, ...SEARCH.path), set), allowed };
  await journal.record({ target: openclaw.target, search, indexDue: true });
  const allow = at(config, "plugins", "allow");
  const plugins =
    step.allow.length > 0 && Array.isArray(allow) ? { plugins: { allow: [...allow, ...step.allow] } } : {};
  await patching(step.configPath, work, { ...patchTo(SEARCH, config, set), ...plugins });
}

export async function pointFacts(step: Of<"point-facts">, work: Work): Promise<void> {
  const openclaw = requireOpenClaw(work);
  const { journal } = work.world;
  const config = await openclaw.authoredConfig(step.configPath);
  const set = factsSetting(step);
  const facts = changeOf(FACTS, journal.entries.facts, at(config, ...FACTS.path), set);
  await journal.record({ target: openclaw.target, facts });
  await patching(step.configPath, work, patchTo(FACTS, config, set));
}

export async function restoreSearch({ configPath }: Of<"restore-search">, work: Work): Promise<void> {
  const { journal } = work.world;
  const { search } = journal.entries;
  if (search === undefined) return;
  await journal.record({ indexDue: true });
  const config = await requireOpenClaw(work).authoredConfig(configPath);
  const now = at(config, ...SEARCH.path);
  const former = takenBack(SEARCH, search, now);
  const plugins = patchBetween(at(config, "plugins"), withoutAllowed(at(config, "plugins"), search.allowed));
  await patching(configPath, work, {
    ...patchAt(SEARCH.path, patchBetween(now, former)),
    ...(plugins === undefined ? {} : { plugins }),
  });
  if (!isEqual(former, search.before))
    work.warn("memory.search was changed by somebody else since; those changes stay.");
  await journal.record({ search: undefined });
}

export async function restoreFacts({ configPath }: Of<"restore-facts">, work: Work): Promise<void> {
  const { journal } = work.world;
  const { facts } = journal.entries;
  if (facts === undefined) return;
  const config = await requireOpenClaw(work).authoredConfig(configPath);
  const now = at(config, ...FACTS.path);
  const former = takenBack(FACTS, facts, now);
  await patching(configPath, work, patchAt(FACTS.path, patchBetween(now, former)));
  const embeddings = at(former, "embeddings");
  if (!isEqual(embeddings, at(facts.before, "embeddings")))
    work.warn("The plugin's embeddings were changed by somebody else since; those changes stay.");
  await journal.record({ facts: undefined });
}

/**
 * Writes to the configuration, and notes how it was left: when nobody else wrote to it since the copy was made, uninstall may
 * put that copy back byte for byte.
 */
export async function writing(path: string, work: Work, write: () => Promise<void>): Promise<void> {
  const openclaw = requireOpenClaw(work);
  const { journal } = work.world;
  const isAsLeft = fingerprint(await openclaw.readConfigFile(path)) === journal.entries.leftAs;
  await write();
  const leftAs = isAsLeft ? fingerprint(await openclaw.readConfigFile(path)) : "changed by others";
  await journal.record({ leftAs });
}

async function patching(path: string, work: Work, patch: JsonObject): Promise<void> {
  if (Object.keys(patch).length === 0) return;
  await writing(path, work, () => requireOpenClaw(work).patchConfig(patch));
}

function patchTo(part: Part, config: Maybe, set: JsonObject): JsonObject {
  const now = at(config, ...part.path);
  return patchAt(part.path, patchBetween(now, withSetting(part, now, set)));
}

function withoutAllowed(plugins: Maybe, allowed: readonly string[]): Maybe {
  const allow = at(plugins, "allow");
  if (!isObject(plugins) || !Array.isArray(allow)) return plugins;
  return { ...plugins, allow: allow.filter((id) => typeof id !== "string" || !allowed.includes(id)) };
}
