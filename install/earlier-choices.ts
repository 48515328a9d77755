/** Completes the options of a run with the choices of the last installation, so that an upgrade changes nothing that nobody named. */
import { isDeepStrictEqual } from "node:util";
import { defined } from "../engine/defined.ts";
import { DEFAULT_MODEL, SERVICE } from "./install-names.ts";
import { targetName } from "./installation-facts.ts";
import type { Choices, Journal, JournalEntries } from "./journal.ts";
import { at } from "./openclaw-json.ts";
import type { GivenOptions, Options } from "./options.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Given options win over earlier choices, and these over the defaults. Only an installation has choices.
 * `env`: with the earlier variables.
 */
export function withEarlierChoices(given: GivenOptions, entries: JournalEntries, env: Variables): Options {
  const earlier = given.mode === "install" ? earlierChoices(entries) : undefined;
  const embeddings = given.embeddings ?? earlier?.embeddings;
  const options = {
    ...given,
    embeddings: embeddings ?? ({ kind: "sidecar" } as const),
    model: given.model ?? earlier?.model ?? DEFAULT_MODEL,
    gpu: given.gpu ?? earlier?.gpu ?? false,
    notes: given.notes ?? earlier?.notes,
    variables: sidecarVariables(env),
    isEmbeddingOpen: embeddings === undefined,
  };
  return { ...options, kept: given.mode === "install" ? keptOptions(given, options, entries) : [] };
}

/** A variable that is set wins. An empty one stands for the compose file's default. */
export function withEarlierVariables<Env extends Variables>(env: Env, { choices }: JournalEntries): Env {
  return { ...choices?.variables, ...env };
}

/** Recorded before the first step, so that a killed run is continued as it was begun. */
export async function recordChoices(
  journal: Journal,
  { embeddings, model, gpu, variables, notes }: Choices,
): Promise<void> {
  const choices = { embeddings, model, gpu, variables, ...defined({ notes }) };
  if (!isDeepStrictEqual(journal.entries.choices, choices)) await journal.record({ choices });
}

/** Undefined: nothing is installed. */
function earlierChoices(entries: JournalEntries): Choices | undefined {
  const { choices, installedPlugin, startedSidecar } = entries;
  if (choices !== undefined) return choices;
  return installedPlugin || startedSidecar ? choicesOf010(entries) : undefined;
}

/** Version 0.1.0 recorded its changes only. They do not show whether the sidecar uses a graphics card. */
function choicesOf010({ facts, search, startedSidecar }: JournalEntries): Choices {
  const [set, ours] = [facts?.sets.at(-1), search?.sets.at(-1)];
  const url = at(set, "embeddings", "url") ?? at(ours, "search", "remote", "baseUrl");
  const model = at(set, "embeddings", "model") ?? at(ours, "search", "model");
  const common = { model: typeof model === "string" ? model : DEFAULT_MODEL, gpu: false, variables: {} };
  if (typeof url !== "string")
    return { ...common, embeddings: { kind: startedSidecar ? "sidecar" : "none" } };
  const isSidecar = startedSidecar ? isOnThisMachine(url) : new URL(url).hostname === SERVICE;
  return { ...common, embeddings: isSidecar ? { kind: "sidecar" } : { kind: "url", url } };
}

/** An address that a sidecar can have. */
function isOnThisMachine(url: string): boolean {
  return ["127.0.0.1", SERVICE].includes(new URL(url).hostname);
}

/** In the form of the command line. Defaults are left out. */
function keptOptions(
  given: GivenOptions,
  { embeddings, model, gpu, variables, notes }: Choices,
  { target, choices }: JournalEntries,
): readonly string[] {
  const kept: string[] = [];
  if (given.openclaw === undefined && target?.kind === "container")
    kept.push(`--openclaw ${targetName(target)}`);
  if (given.embeddings === undefined && embeddings.kind === "none") kept.push("--no-embeddings");
  if (embeddings.kind === "builtin") kept.push(...keptBuiltIn(given, notes));
  if (given.embeddings === undefined && embeddings.kind === "url")
    kept.push(`--embeddings-url ${embeddings.url}`);
  if (given.model === undefined && model !== DEFAULT_MODEL && embedsElsewhere(embeddings))
    kept.push(`--embedding-model ${model}`);
  if (given.gpu === undefined && gpu && embeddings.kind === "sidecar") kept.push("--gpu");
  if (embeddings.kind === "sidecar") kept.push(...keptVariables(choices?.variables ?? {}, variables));
  return kept;
}

function keptBuiltIn(given: GivenOptions, notes: Choices["notes"]): readonly string[] {
  return [
    ...(given.embeddings === undefined ? ["--embeddings builtin"] : []),
    ...(given.notes === undefined && notes === "builtin" ? ["--notes builtin"] : []),
  ];
}

/** With a service, whose model can be chosen. */
export function embedsElsewhere({ kind }: Choices["embeddings"]): boolean {
  return kind === "sidecar" || kind === "url";
}

function keptVariables(earlier: Variables, now: Variables): readonly string[] {
  return Object.entries(now).flatMap(([name, value]) =>
    earlier[name] === value ? [`${name}=${value}`] : [],
  );
}

function sidecarVariables(env: Variables): Choices["variables"] {
  return defined({
    HELMDECK_EMBEDDINGS_IMAGE: env.HELMDECK_EMBEDDINGS_IMAGE || undefined,
    HELMDECK_EMBEDDINGS_MEMORY: env.HELMDECK_EMBEDDINGS_MEMORY || undefined,
  });
}
