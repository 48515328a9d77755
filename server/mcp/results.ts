/** Tool results: the pack's output as data and as text, or one sentence with the failure and the remedy. */
import type {
  CallToolResult,
  ReadResourceResult,
  ResourceLink,
  ResourceTemplate,
} from "@modelcontextprotocol/sdk/types.js";
import { remedyFor } from "../../app/health/remedies.ts";
import { errorReply } from "../../app/wire/error-reply.ts";
import { asHelmdeckError, type HelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { ArtifactRef, ArtifactStore, PackRun } from "../../packs/engine/pack-contract.ts";
import { packRunReply } from "../../packs/wire.ts";

export function resultOfRun(run: PackRun): CallToolResult {
  const { output, artifacts: _, ...about } = packRunReply(run);
  const links = run.artifacts.map(linkTo);
  const _meta = { "helmdeck/run": about };
  if (!isRecord(output)) return { content: [textOf(output), ...links], _meta };
  const { content, structuredContent } = asTextAndData(output);
  return { content: [...content, ...links], structuredContent, _meta };
}

/** With this indentation OpenClaw recognises the text as a copy of the data and does not show both (decision 43). */
export function asTextAndData<Data extends Record<string, unknown>>(data: Data) {
  const content = [{ type: "text" as const, text: JSON.stringify(data, null, 2) }];
  return { content, structuredContent: data };
}

/** For a model to act on: `code: message`, then the remedy. */
export function resultOfFailure(error: unknown): CallToolResult {
  const failure = asHelmdeckError(error);
  return {
    isError: true,
    content: [{ type: "text", text: sentenceFor(failure) }],
    // Not as structuredContent, which clients validate against the schema of a successful answer.
    _meta: { "helmdeck/error": { ...errorReply(failure), remedy: remedyFor(failure.code) } },
  };
}

export function sentenceFor({ code, message }: HelmdeckError): string {
  return `${code}: ${harmlessLine(message)} ${remedyFor(code)}`;
}

/** The data for clients that do not read structured content. */
export function textOf(value: unknown): { type: "text"; text: string } {
  return { type: "text", text: JSON.stringify(value) ?? "null" };
}

function linkTo({ id, name, mediaType, sizeBytes }: ArtifactRef): ResourceLink {
  return { type: "resource_link", uri: artifactUri(id), name, mimeType: mediaType, size: sizeBytes };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const PREFIX = "helmdeck://artifacts/";
const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|yaml|x-ndjson)\b|[^;]*\+(?:json|xml)\b)/i;

export const ARTIFACT_TEMPLATE: ResourceTemplate = {
  uriTemplate: `${PREFIX}{id}`,
  name: "artifact",
  title: "A file that a pack made",
  description: "Linked from the answer of the run that made it; only its caller can read it.",
};

/** Files made by packs, as MCP resources: linked from a run's answer, and readable only by the caller of that run. */
function artifactUri(id: string): string {
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
