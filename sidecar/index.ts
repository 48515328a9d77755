/** The sidecar's public API: clients of embedding services. */
export type {
  EmbedderSettings,
  OllamaSidecar,
  PullProgress,
  SidecarEmbedder,
} from "./embedding-service.ts";
export { isSameOllamaModel, ollamaName } from "./models.ts";
export { createOllamaSidecar } from "./ollama.ts";
export { createOllamaEmbedder } from "./ollama-embedder.ts";
export { createOpenAiCompatibleEmbedder } from "./openai-compatible.ts";
export { settingsOfSpace } from "./space.ts";
