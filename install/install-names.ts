/** This installation's names in the compose files, Docker and OpenClaw; a test compares them with the files. */
import type { OpenClawReady } from "./installation-facts.ts";

export const NETWORK = "baas-net";
export const SERVICE = "helmdeck-embeddings";
export const PROJECT = "helmdeck-embeddings";
export const MODELS_VOLUME = "helmdeck-embeddings-models";
export const IMAGE_PORT = 11434;
export const DEFAULT_MODEL = "nomic-embed-text";

export const COMPOSE_FILE = "compose.embeddings.yml";
const HOST_PORT_FILE = "compose.embeddings.host-port.yml";
const GPU_FILE = "compose.embeddings.gpu.yml";

/** The command as the user called it, so that commands in messages can be typed as shown. */
export const INSTALLER = process.env.HELMDECK_INSTALLER || "install.sh";

export const PLUGIN_ID = "helmdeck-memory";
/** The plugin that embeds OpenClaw's own notes, and the provider that it registers. */
export const NOTES_PLUGIN_ID = "helmdeck-memory-notes";
export const NOTES_PROVIDER = "helmdeck-builtin";
/** OpenClaw's embedding providers that an installation may set. */
export const OUR_PROVIDERS = ["ollama", NOTES_PROVIDER] as const;
/** A plugin's folder in dist/. */
export const PLUGIN_FOLDERS = { [PLUGIN_ID]: "plugin", [NOTES_PLUGIN_ID]: "notes-plugin" } as const;
export type PluginId = keyof typeof PLUGIN_FOLDERS;
/** OpenClaw's plugin for Ollama; it must be allowed if `plugins.allow` is set. */
export const OLLAMA_PLUGIN_ID = "ollama";
export const OLDEST_OPENCLAW = "2026.8.1";
/** The first with `openclaw memory reset`. */
export const OLDEST_FOR_NOTES = "2026.9.1";

/**
 * The sidecar's compose files, and their variables.
 *
 * The files for an OpenClaw at this target.
 */
export function composeFiles({ target }: Pick<OpenClawReady, "target">, gpu: boolean): readonly string[] {
  return [COMPOSE_FILE, ...(target.kind === "host" ? [HOST_PORT_FILE] : []), ...(gpu ? [GPU_FILE] : [])];
}

export function composeVariables(model: string, port: number): Readonly<Record<string, string>> {
  return { EMBEDDING_MODEL: model, HELMDECK_EMBEDDINGS_PORT: String(port) };
}
