/** Names that the compose files, Docker and OpenClaw know this installation by; a test compares them with the files. */

export const NETWORK = "baas-net";
export const SERVICE = "helmdeck-embeddings";
export const PROJECT = "helmdeck-embeddings";
export const MODELS_VOLUME = "helmdeck-embeddings-models";
export const IMAGE_PORT = 11434;
export const DEFAULT_MODEL = "nomic-embed-text";

export const COMPOSE_FILE = "compose.embeddings.yml";
export const HOST_PORT_FILE = "compose.embeddings.host-port.yml";
export const GPU_FILE = "compose.embeddings.gpu.yml";

/** As whoever runs it called it, so that what is said can be typed. */
export const INSTALLER = process.env.HELMDECK_INSTALLER || "install.sh";

export const PLUGIN_ID = "helmdeck-memory";
/** The plugin of OpenClaw that speaks to Ollama; it must be allowed where `plugins.allow` is set. */
export const OLLAMA_PLUGIN_ID = "ollama";
export const OLDEST_OPENCLAW = "2026.8.1";
