/** Tool results: the pack's output as data and as text, or one sentence with the failure and the remedy. */
import type { CallToolResult, ResourceLink } from "@modelcontextprotocol/sdk/types.js";
import { remedyFor } from "../../app/health/remedies.ts";
import { errorReply } from "../../app/wire/error-reply.ts";
import { asHelmdeckError } from "../../engine/as-helmdeck-error.ts";
import type { HelmdeckError } from "../../engine/errors.ts";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";
import type { ArtifactRef, PackRun } from "../../packs/engine/pack-contract.ts";
import { packRunReply } from "../../packs/wire/run-replies.ts";
import { artifactUri } from "./artifact-content.ts";

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
