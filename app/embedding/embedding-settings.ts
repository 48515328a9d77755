/** Which embedding service to use, as plugin configuration and environment say it; small, since the gateway's main thread reads it. */

/** Crosses to the worker as it is. Where nothing is configured nothing is sent anywhere: search goes by words alone. */
import { defined } from "../../engine/index.ts";
export type EmbeddingSettings =
  | { readonly provider: "none" }
  /** Something is configured that cannot be used; `problem` is a sentence that names the setting and shows no value. */
  | { readonly provider: "unusable"; readonly problem: string }
  | EmbeddingService;

export interface EmbeddingService {
  readonly provider: EmbeddingProvider;
  readonly url: string;
  readonly model: string;
  /** For a service that asks for one; Ollama does not. */
  readonly apiKey?: string;
  /** Asks a Matryoshka model for shorter vectors. */
  readonly dimensions?: number;
  /** How long Ollama is asked to keep the model loaded: `24h`, `-1s` for ever. Absent: as the server is set. */
  readonly keepAlive?: string;
}

export const EMBEDDING_PROVIDERS = ["ollama", "openai-compatible"] as const;
export type EmbeddingProvider = (typeof EMBEDDING_PROVIDERS)[number];

export const NO_EMBEDDINGS: EmbeddingSettings = { provider: "none" };

/** What the installer sets up (compose.embeddings.yml). */
const OLLAMA = { url: "http://helmdeck-embeddings:11434", model: "nomic-embed-text" };
const MOST_CHARS = 2_048;
const MOST_DIMENSIONS = 8_192;
/** As Ollama reads it: a number and its unit, or several. */
const DURATION = /^-?(\d{1,6}(ms|s|m|h))+$/;

/** What is called so where the setting was made, for messages. */
export type NameOfSetting = (field: keyof EmbeddingService) => string;

/**
 * Settings from anything; never throws. Nothing given, or provider `none`: off. Something given without a provider: Ollama.
 * Whether the address can be used is for the client to say, when it is made.
 */
export function embeddingSettingsOf(
  given: Readonly<Partial<Record<keyof EmbeddingService, unknown>>>,
  nameOf: NameOfSetting,
): EmbeddingSettings {
  const { provider = "ollama", dimensions, keepAlive } = given;
  const isAbsent = Object.values(given).every((value) => value === undefined);
  if (isAbsent || provider === "none") return NO_EMBEDDINGS;
  if (!isProvider(provider)) {
    return unusable(`${nameOf("provider")} must be one of none, ${EMBEDDING_PROVIDERS.join(", ")}`);
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

function withKeepAlive(
  settings: EmbeddingService,
  keepAlive: unknown,
  nameOf: NameOfSetting,
): EmbeddingSettings {
  if (!isDuration(keepAlive))
    return unusable(`${nameOf("keepAlive")} must be a time such as 30m or 24h, or -1s for ever`);
  if (settings.provider === "ollama") return { ...settings, keepAlive };
  return unusable(`${nameOf("keepAlive")} is for Ollama: other services have no such setting`);
}

/** The key is given apart, since it may have to be fetched first. */
export function withApiKey(
  settings: EmbeddingSettings,
  apiKey: unknown,
  nameOf: NameOfSetting,
): EmbeddingSettings {
  if (settings.provider === "none" || settings.provider === "unusable") return settings;
  if (!isText(apiKey)) return unusable(`${nameOf("apiKey")} must be text`);
  if (settings.provider === "openai-compatible") return { ...settings, apiKey };
  return unusable(`${nameOf("apiKey")} is for openai-compatible services: Ollama has none`);
}

export function unusable(what: string): EmbeddingSettings {
  return { provider: "unusable", problem: `${what}.` };
}

function isProvider(given: unknown): given is EmbeddingProvider {
  return EMBEDDING_PROVIDERS.some((provider) => provider === given);
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
