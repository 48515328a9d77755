/** The sidecar's compose files, and their variables. */
import { COMPOSE_FILE, GPU_FILE, HOST_PORT_FILE } from "./install-names.ts";
import type { OpenClawReady } from "./installation-facts.ts";

/** The files for an OpenClaw at this target. */
export function composeFiles({ target }: Pick<OpenClawReady, "target">, gpu: boolean): readonly string[] {
  return [COMPOSE_FILE, ...(target.kind === "host" ? [HOST_PORT_FILE] : []), ...(gpu ? [GPU_FILE] : [])];
}

export function composeVariables(model: string, port: number): Readonly<Record<string, string>> {
  return { EMBEDDING_MODEL: model, HELMDECK_EMBEDDINGS_PORT: String(port) };
}
