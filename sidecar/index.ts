/** The sidecar room's public surface: clients of embedding services. */
export type {
  CallOptions,
  DocumentEmbeddings,
  EmbedderSettings,
  EmbedderState,
  InstalledModel,
  ModelDescription,
  OllamaEmbedRequest,
  OllamaSidecar,
  OllamaSidecarOptions,
  Prefixes,
  PullProgress,
  SidecarEmbedder,
  SidecarHealth,
} from "./contract.ts";
