/** Files made by packs, as MCP resources: linked from a run's answer, and readable only by the caller of that run. */
import type { ReadResourceResult, ResourceTemplate } from "@modelcontextprotocol/sdk/types.js";
import type { ArtifactStore } from "../../packs/engine/pack-contract.ts";

const PREFIX = "helmdeck://artifacts/";
const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|yaml|x-ndjson)\b|[^;]*\+(?:json|xml)\b)/i;

export const ARTIFACT_TEMPLATE: ResourceTemplate = {
  uriTemplate: `${PREFIX}{id}`,
  name: "artifact",
  title: "A file that a pack made",
  description: "Linked from the answer of the run that made it; only its caller can read it.",
};

export function artifactUri(id: string): string {
  return `${PREFIX}${encodeURIComponent(id)}`;
}

/** The id in the URI of an artifact; undefined for any other URI. */
export function artifactIdIn(uri: string): string | undefined {
  if (!uri.startsWith(PREFIX)) return undefined;
  try {
    return decodeURIComponent(uri.slice(PREFIX.length));
  } catch {
    return undefined; // malformed escape
  }
}

/** Undefined if it does not exist or belongs to another caller; the two cannot be told apart. */
export async function readArtifact(
  store: ArtifactStore,
  subject: string,
  id: string,
): Promise<ReadResourceResult | undefined> {
  const found = await store.get(subject, id);
  if (found === undefined) return undefined;
  const { ref, content } = found;
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const described = { uri: artifactUri(id), mimeType: ref.mediaType };
  return {
    contents: [
      TEXT_TYPE.test(ref.mediaType)
        ? { ...described, text: bytes.toString("utf8") }
        : { ...described, blob: bytes.toString("base64") },
    ],
  };
}
