/** Makes the plan from facts and options. Pure, so that --dry-run and a real run cannot differ. */

import {
  INSTALLER,
  NETWORK,
  NOTES_PLUGIN_ID,
  NOTES_PROVIDER,
  OUR_PROVIDERS,
  PLUGIN_ID,
} from "../install-names.ts";
import type { EmbedsFacts, Facts, OpenClawReady } from "../installation-facts.ts";
import type { Options } from "../options.ts";
import type { SearchWanted } from "../steps/point-search.ts";
import type { Step } from "../steps/registry.ts";
import type { Plan } from "./plan.ts";
import { type EmbeddingsPlan, modelRepairSteps, planEmbeddings } from "./plan-embeddings.ts";
import { planAuditTools, planFacts, planKeepAYear, planSource, planSpeakUp } from "./plan-facts.ts";
import { indexSteps, planSearch, repairSteps, type SearchPlan } from "./plan-search.ts";
import { uninstallPlan } from "./plan-uninstall.ts";
import { unmetPrerequisites } from "./prerequisites.ts";

export function makePlan(facts: Facts, options: Options): Plan {
  if (options.mode === "uninstall") return uninstallPlan(facts, options);
  const { openclaw } = facts;
  const unmet = unmetPrerequisites(facts, options);
  if (unmet.length > 0 || openclaw.state !== "ready") {
    return { target: undefined, steps: [], warnings: [], unmet, questions: [], kept: options.kept };
  }
  switch (options.mode) {
    case "verify":
      return verifyPlan(openclaw);
    case "repair":
      return planOf(openclaw, [...modelRepairSteps(openclaw, facts), ...repairSteps(openclaw, facts)]);
    case "install":
      return installPlan(openclaw, facts, options);
  }
}

function verifyPlan(openclaw: OpenClawReady): Plan {
  const { search, engine } = openclaw;
  const { provider } = search;
  const embedded = {
    search: OUR_PROVIDERS.find((one) => one === provider),
    facts: engine === undefined ? embeddedNow(openclaw) : undefined,
    engineUrl: engine?.url,
  };
  return planOf(openclaw, [smokeTest(openclaw, embedded)]);
}

/** Without a setting, the plugin uses the built-in model if it is there. */
function embeddedNow({ facts, hasModel }: OpenClawReady): EmbedsFacts | undefined {
  if (facts.provider === "unset") return hasModel ? { provider: "builtin" } : undefined;
  return "url" in facts || facts.provider === "builtin" ? facts : undefined;
}

function installPlan(openclaw: OpenClawReady, facts: Facts, options: Options): Plan {
  const embeddings = planEmbeddings(openclaw, facts, options);
  const source = planSource(openclaw, facts, options);
  const wanted = source.engineUrl === undefined ? embeddings.facts : undefined;
  const own = planFacts(openclaw, facts, options, wanted);
  // The search setting comes last, because a running gateway reloads when it changes.
  const forNotes = searchWanted(embeddings, options);
  const search = planSearch(openclaw, facts, options, forNotes);
  const notes = planNotesPlugin(openclaw, facts, forNotes, search);
  const answers = [planAuditTools, planSpeakUp, planKeepAYear].map((plan) => plan(openclaw, facts, options));
  const changes = [
    ...pluginSteps(openclaw, facts),
    ...embeddings.model,
    ...own.steps,
    ...source.steps,
    ...answers.flatMap(({ steps }) => steps),
    ...notes.before,
    ...search.steps,
  ];
  const steps = [
    ...embeddings.before,
    ...(source.engineUrl === undefined ? keySteps(openclaw) : []),
    ...attachSteps(openclaw, options),
    ...embeddings.checks,
    ...copySteps(openclaw, facts, changes),
    ...changes,
    ...indexSteps(openclaw, facts, search),
    ...notes.after,
    ...embeddings.after,
    smokeTest(openclaw, {
      search: search.embeds,
      facts: source.engineUrl === undefined ? own.embeds : undefined,
      engineUrl: source.engineUrl,
    }),
  ];
  return {
    ...planOf(openclaw, steps),
    warnings: [
      ...search.warnings,
      ...own.warnings,
      ...attachWarnings(openclaw, options),
      ...keptNoneWarnings(openclaw, options),
    ],
    questions: [...search.questions, ...own.questions, ...answers.flatMap((one) => one.questions)],
    kept: [...options.kept, ...source.kept, ...answers.flatMap(({ kept = [] }) => kept)],
  };
}

function planOf(openclaw: OpenClawReady, steps: readonly Step[]): Plan {
  return { target: openclaw.target, steps, warnings: [], unmet: [], questions: [], kept: [] };
}

interface Embedded {
  readonly search: SearchPlan["embeds"];
  readonly facts: EmbedsFacts | undefined;
  readonly engineUrl: string | undefined;
}

function smokeTest({ gateway, memory }: OpenClawReady, { search, facts, engineUrl }: Embedded): Step {
  const isHere = engineUrl === undefined;
  return {
    kind: "prove",
    embeddings: search && { provider: search },
    facts,
    engineUrl,
    gateway: gateway === "running" ? "running" : "for-the-proof",
    memory: isHere ? memory && { databasePath: memory.databasePath, keyPath: memory.keyPath } : undefined,
  };
}

function keySteps({ memory }: OpenClawReady): readonly Step[] {
  if (memory?.key !== "none") return [];
  const { databasePath, keyPath } = memory;
  return [{ kind: "make-key", databasePath, keyPath }];
}

function pluginSteps({ installed, configPath }: OpenClawReady, { plugin }: Facts): readonly Step[] {
  if (installed === "same") return [];
  return [{ kind: "install-plugin", plugin: PLUGIN_ID, configPath, ...plugin }];
}

function searchWanted(
  { baseUrl }: EmbeddingsPlan,
  { embeddings, model, notes }: Options,
): SearchWanted | undefined {
  if (baseUrl !== undefined) return { provider: "ollama", model, baseUrl };
  return notes === "builtin" && embeddings.kind === "builtin" ? { provider: NOTES_PROVIDER } : undefined;
}

/** Removed only after nothing names its provider any more. */
function planNotesPlugin(
  { installedNotes, configPath }: OpenClawReady,
  { notesPlugin, journal }: Facts,
  wanted: SearchWanted | undefined,
  { embeds }: SearchPlan,
): { readonly before: readonly Step[]; readonly after: readonly Step[] } {
  const plugin = NOTES_PLUGIN_ID;
  if (wanted?.provider === NOTES_PROVIDER) {
    const install = { kind: "install-notes-plugin", plugin, configPath, ...notesPlugin } as const;
    return { before: embeds === undefined || installedNotes === "same" ? [] : [install], after: [] };
  }
  const isThere = installedNotes !== "absent";
  const uninstall = { kind: "uninstall-notes-plugin", plugin, configPath, isThere } as const;
  return { before: [], after: journal.installedNotes ? [uninstall] : [] };
}

/** Only before the first change, because the copy must show the state before us. */
function copySteps(openclaw: OpenClawReady, { journal }: Facts, changes: readonly Step[]): readonly Step[] {
  if (changes.length === 0 || journal.hasConfigCopy) return [];
  return [{ kind: "back-up-config", configPath: openclaw.configPath }];
}

function attachSteps({ target, attachment }: OpenClawReady, { embeddings }: Options): readonly Step[] {
  if (target.kind !== "container" || attachment === undefined || embeddings.kind !== "sidecar") return [];
  const { compose } = attachment;
  const canTell = compose?.readsOverride && compose.override === "absent";
  if (attachment.isAttached && !canTell) return [];
  const override = canTell
    ? { file: compose.overrideFile, service: compose.service, networks: [...compose.ownNetworks, NETWORK] }
    : undefined;
  return [{ kind: "attach-container", container: target.name, network: NETWORK, override }];
}

function attachWarnings({ target, attachment }: OpenClawReady, { embeddings }: Options): readonly string[] {
  if (target.kind !== "container" || attachment === undefined || embeddings.kind !== "sidecar") return [];
  const { compose } = attachment;
  if (compose === undefined) {
    return [
      `${target.name} is not managed by compose. If you recreate it, pass --network ${NETWORK}, or run this again.`,
    ];
  }
  if (compose.override === "ours" || (compose.override === "absent" && compose.readsOverride)) return [];
  return [
    `${compose.overrideFile} is not written, because ${compose.override === "theirs" ? "it already exists" : "the project is started with explicit files"}: ` +
      `add the external network ${NETWORK} to the service ${compose.service} yourself, or compose detaches it when it recreates the container.`,
  ];
}

/** Once: whoever chose keywords before there was a built-in model learns of it. */
function keptNoneWarnings(
  { facts, engine }: OpenClawReady,
  { kept, engine: wanted }: Options,
): readonly string[] {
  const isNews = facts.provider === "unset" && engine === undefined && wanted === undefined;
  if (!isNews || !kept.includes("--no-embeddings")) return [];
  return [
    `You chose search by keywords, and it stays. A small model is built in now: ${INSTALLER} --embeddings builtin`,
  ];
}
