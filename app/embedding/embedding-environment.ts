/** Reads the embedding settings of the command line and the server from the environment. An empty variable counts as absent. */
import { isHelmdeckError } from "../../engine/errors.ts";
import { readSecretFile } from "../secret-file.ts";
import {
  type EmbeddingService,
  type EmbeddingSettings,
  embeddingSettingsOf,
  unusable,
  withApiKey,
} from "./embedding-settings.ts";

type Env = Readonly<Record<string, string | undefined>>;

const VARIABLES: Readonly<Record<keyof EmbeddingService, string>> = {
  provider: "HELMDECK_EMBEDDINGS_PROVIDER",
  url: "HELMDECK_EMBEDDINGS_URL",
  model: "HELMDECK_EMBEDDINGS_MODEL",
  dimensions: "HELMDECK_EMBEDDINGS_DIMENSIONS",
  keepAlive: "HELMDECK_EMBEDDINGS_KEEP_ALIVE",
  apiKey: "HELMDECK_EMBEDDINGS_KEY",
};
const KEY_FILE = "HELMDECK_EMBEDDINGS_KEY_FILE";

/** Whether the environment configures an embedding service, or turns it off. */
export function namesEmbeddings(env: Env): boolean {
  return [...Object.values(VARIABLES), KEY_FILE].some((name) => Boolean(env[name]));
}

/** Never throws: status and doctor report unusable settings, and search uses keywords. */
export async function embeddingSettingsOfEnv(env: Env): Promise<EmbeddingSettings> {
  const given = Object.fromEntries(
    Object.entries(VARIABLES).map(([field, name]) => [field, env[name] || undefined]),
  );
  const { apiKey, dimensions, ...rest } = given;
  const nameOf = (field: keyof EmbeddingService) => VARIABLES[field];
  const settings = embeddingSettingsOf({ ...rest, dimensions: dimensions && Number(dimensions) }, nameOf);
  const keyFile = env[KEY_FILE] || undefined;
  if (apiKey !== undefined && keyFile !== undefined)
    return unusable(`${VARIABLES.apiKey} and ${KEY_FILE} are both set`);
  if (keyFile !== undefined) {
    if (!("url" in settings)) return settings;
    try {
      return withApiKey(settings, Buffer.from(await readSecretFile(keyFile)).toString(), () => KEY_FILE);
    } catch (error) {
      return {
        provider: "unusable",
        problem: isHelmdeckError(error) ? error.message : `${KEY_FILE} cannot be read.`,
      };
    }
  }
  return apiKey === undefined ? settings : withApiKey(settings, apiKey, nameOf);
}
