/** Parses embedding settings from plugin configuration and environment. Small, since the gateway's main thread loads it. */

import { defined } from "../../engine/defined.ts";

/** Passed to the worker unchanged. Without settings nothing is sent anywhere: the built-in model is used if it is installed. */
export type EmbeddingSettings =
  | { readonly provider: "none" }
  /** The settings are unusable; `problem` names the setting and shows no value. */
  | { readonly provider: "unusable"; readonly problem: string }
  | BuiltInSettings
  | EmbeddingService;

export interface BuiltInSettings {
  readonly provider: "builtin";
  /** Nobody chose it: where it is not installed, search uses keywords, and only the status says so. */
  readonly isDefault?: true;
  /** The Ollama of before: its vectors serve until the model has made its own. */
  readonly former?: EmbeddingService;
}

export interface EmbeddingService {
  readonly provider: ServiceProvider;
  readonly url: string;
  readonly model: string;
  /** For a service that needs one; Ollama does not. */
  readonly apiKey?: string;
  /** Requests shorter vectors from a Matryoshka model. */
  readonly dimensions?: number;
  /** How long Ollama keeps the model loaded: `24h`, `-1s` for ever. Default: the server's setting. */
  readonly keepAlive?: string;
}

const SERVICES = ["ollama", "openai-compatible"] as const;
type ServiceProvider = (typeof SERVICES)[number];
/** Everything that `provider` may be. */
export const EMBEDDING_PROVIDERS = ["none", "builtin", ...SERVICES] as const;
export type EmbeddingProvider = "builtin" | ServiceProvider;

export const NO_EMBEDDINGS: EmbeddingSettings = { provider: "none" };
const BUILT_IN_IF_THERE: EmbeddingSettings = { provider: "builtin", isDefault: true };

/** What the installer sets up (compose.embeddings.yml). */
const OLLAMA = { url: "http://helmdeck-embeddings:11434", model: "nomic-embed-text" };
const MOST_CHARS = 2_048;
const MOST_DIMENSIONS = 8_192;
/** Ollama's notation: one or more numbers with units. */
const DURATION = /^-?(\d{1,6}(ms|s|m|h))+$/;

type Given = Readonly<Partial<Record<keyof EmbeddingService, unknown>>>;

/** The setting's name at its source, for messages. */
export type NameOfSetting = (field: keyof EmbeddingService) => string;

/**
 * Parses settings of any type; never throws. Nothing: the built-in model, if it is installed. Settings without a provider: Ollama.
 * The client checks the address when it is created.
 */
export function embeddingSettingsOf(given: Given, nameOf: NameOfSetting): EmbeddingSettings {
  const { provider = "ollama", dimensions, keepAlive } = given;
  const isAbsent = Object.values(given).every((value) => value === undefined);
  if (isAbsent) return BUILT_IN_IF_THERE;
  if (provider === "none") return NO_EMBEDDINGS;
  if (provider === "builtin") return builtIn(given, nameOf);
  if (!isService(provider)) {
    return unusable(`${nameOf("provider")} must be one of ${EMBEDDING_PROVIDERS.join(", ")}`);
  }
  const defaults = provider === "ollama" ? OLLAMA : undefined;
  const url = given.url ?? defaults?.url;
  const model = given.model ?? defaults?.model;
  if (!isText(url)) return unusable(`${nameOf("url")} must be the address of the service`);
  if (!isText(model)) return unusable(`${nameOf("model")} must name the model`);
  if (dimensions !== undefined && !isCount(dimensions)) {
    return unusable(`${nameOf("dimensions")} must be a whole number from 1 to ${MOST_DIMENSIONS}`);
  }
  const settings = { ...{ provider, url, model }, ...defined({ dimensions }) };
  return keepAlive === undefined ? settings : withKeepAlive(settings, keepAlive, nameOf);
}

/** Settings of an Ollama may remain beside it, such as after a change. */
function builtIn(given: Given, nameOf: NameOfSetting): EmbeddingSettings {
  if (given.url === undefined) return { provider: "builtin" };
  const former = embeddingSettingsOf({ ...given, provider: "ollama" }, nameOf);
  return "url" in former ? { provider: "builtin", former } : former;
}

function withKeepAlive(
  settings: EmbeddingService,
  keepAlive: unknown,
  nameOf: NameOfSetting,
): EmbeddingSettings {
  if (!isDuration(keepAlive))
    return unusable(`${nameOf("keepAlive")} must be a duration such as 30m or 24h, or -1s for ever`);
  if (settings.provider === "ollama") return { ...settings, keepAlive };
  return unusable(`${nameOf("keepAlive")} applies to Ollama only`);
}

/** The key is passed separately, since it may have to be resolved first. */
export function withApiKey(
  settings: EmbeddingSettings,
  apiKey: unknown,
  nameOf: NameOfSetting,
): EmbeddingSettings {
  if (!("url" in settings)) return settings;
  if (!isText(apiKey)) return unusable(`${nameOf("apiKey")} must be a string`);
  if (settings.provider === "openai-compatible") return { ...settings, apiKey };
  return unusable(`${nameOf("apiKey")} applies to openai-compatible services only; Ollama needs none`);
}

export function unusable(what: string): EmbeddingSettings {
  return { provider: "unusable", problem: `${what}.` };
}

function isService(given: unknown): given is ServiceProvider {
  return SERVICES.some((provider) => provider === given);
}

function isText(given: unknown): given is string {
  return typeof given === "string" && given.trim() !== "" && given.length <= MOST_CHARS;
}

function isDuration(given: unknown): given is string {
  return typeof given === "string" && DURATION.test(given);
}

function isCount(given: unknown): given is number {
  return typeof given === "number" && Number.isInteger(given) && given >= 1 && given <= MOST_DIMENSIONS;
}
