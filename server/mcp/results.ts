/** Tool results: the pack's output as data and as text, or one sentence with the failure and the remedy. */
import type {
  CallToolResult,
  ReadResourceResult,
  ResourceLink,
  ResourceTemplate,
} from "@modelcontextprotocol/sdk/types.js";
import { forCallers, remedyForCallers } from "../../app/health/for-callers.ts";
import { remedyFor } from "../../app/health/remedies.ts";
import { errorReply } from "../../app/wire/error-reply.ts";
import { asHelmdeckError, HelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import { isRecord } from "../../engine/json.ts";
import type { ArtifactStore, PackRun } from "../../packs/engine/pack-contract.ts";
import { packRunReply } from "../../packs/wire.ts";
import { isShort } from "./answer-pages.ts";

export function resultOfRun(run: PackRun): CallToolResult {
  const { output, artifacts: _, ...about } = packRunReply(run);
  const links = run.artifacts.map(
    ({ id, name, mediaType, sizeBytes }): ResourceLink => ({
      ...{ type: "resource_link", uri: artifactUri(id), name, mimeType: mediaType, size: sizeBytes },
    }),
  );
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
export function resultOfFailure(error: unknown, by: ToldBy): CallToolResult {
  const { failure, remedy, sentence } = toldOf(error, by);
  return {
    isError: true,
    content: [{ type: "text", text: sentence }],
    // Not as structuredContent, which clients validate against the schema of a successful answer.
    _meta: { "helmdeck/error": { ...errorReply(failure), remedy } },
  };
}

type ToldBy = { readonly isForOperator: boolean };

export function toldOf(error: unknown, { isForOperator }: ToldBy) {
  const whole = asHelmdeckError(error);
  const failure = isForOperator ? whole : forCallers(whole);
  const { code, message } = failure;
  const remedy = isForOperator ? remedyFor(code) : remedyForCallers(code);
  return { failure, remedy, sentence: `${code}: ${harmlessLine(message)} ${remedy}` };
}

/** The data for clients that do not read structured content. */
export function textOf(value: unknown): { type: "text"; text: string } {
  return { type: "text", text: JSON.stringify(value) ?? "null" };
}

const PREFIX = "helmdeck://artifacts/";
/** A file, and the byte of it from which to read. */
const ARTIFACT_URI = /^helmdeck:\/\/artifacts\/([^?]+)(?:\?from=(\d{1,12}))?$/;
const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|yaml|x-ndjson)\b|[^;]*\+(?:json|xml)\b)/i;

export const ARTIFACT_TEMPLATE: ResourceTemplate = {
  uriTemplate: `${PREFIX}{id}{?from}`,
  name: "artifact",
  title: "A file that a pack made",
  description:
    "Linked from the answer of the run that made it; only its caller can read it. A long file is read in parts: from 0 on, then" +
    " from what _meta.next says.",
};

export function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined; // a broken escape names nothing
  }
}

/** Files made by packs, as MCP resources: linked from a run's answer, and readable only by the caller of that run. */
function artifactUri(id: string): string {
  return `${PREFIX}${encodeURIComponent(id)}`;
}

/** Of a file in one answer: as text, each byte may become six in JSON. */
const PART_BYTES = { text: 9_000, blob: 42_000 };

/**
 * Undefined if it does not exist or belongs to another caller; the two cannot be told apart; and for the URI of something else. Throws
 * `too_large` for a file that no answer can hold: half a file is only given to whom asks for parts.
 */
export async function readArtifact(
  store: ArtifactStore,
  subject: string,
  uri: string,
): Promise<ReadResourceResult | undefined> {
  const [, escaped, given] = ARTIFACT_URI.exec(uri) ?? [];
  const id = escaped && decoded(escaped);
  const from = given === undefined ? undefined : Number(given);
  const found = id ? await store.get(subject, id) : undefined;
  if (!id || found === undefined) return undefined;
  const { ref, content } = found;
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const isText = TEXT_TYPE.test(ref.mediaType);
  const resultOf = (part: Buffer, next?: number): ReadResourceResult => ({
    contents: [
      {
        ...{ uri: artifactUri(id), mimeType: ref.mediaType },
        ...(isText ? { text: part.toString("utf8") } : { blob: part.toString("base64") }),
        ...(next !== undefined && { _meta: { next: `${artifactUri(id)}?from=${next}` } }),
      },
    ],
  });
  if (from === undefined && isShort(resultOf(bytes))) return resultOf(bytes);
  if (from === undefined)
    throw new HelmdeckError(
      "too_large",
      `The file is too long for one answer; read it in parts, beginning with ${artifactUri(id)}?from=0.`,
    );
  let end = from + (isText ? PART_BYTES.text : PART_BYTES.blob);
  // A character of several bytes is not divided.
  while (isText && (bytes[end] ?? 0) >> 6 === 0b10) end -= 1;
  return resultOf(bytes.subarray(from, end), end < bytes.length ? end : undefined);
}
