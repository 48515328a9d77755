/** Resource templates, each with the function that reads it for a caller. */
import type { ReadResourceResult, ResourceTemplate } from "@modelcontextprotocol/sdk/types.js";
import type { ServerContext } from "../../packs/server-context.ts";
import { ARTIFACT_TEMPLATE, artifactIdIn, readArtifact } from "./artifact-content.ts";
import { HERE_TEMPLATE, readHere, recallRequestIn } from "./here-resource.ts";

export interface McpResourceTemplate {
  readonly definition: ResourceTemplate;
  /** Undefined if the address does not match, or the caller has nothing there. */
  read(serverContext: ServerContext, subject: string, uri: string): Promise<ReadResourceResult | undefined>;
}

export const MCP_RESOURCE_TEMPLATES: readonly McpResourceTemplate[] = [
  {
    definition: ARTIFACT_TEMPLATE,
    read: async ({ artifacts }, subject, uri) => {
      const id = artifactIdIn(uri);
      return id === undefined ? undefined : readArtifact(artifacts, subject, id);
    },
  },
  {
    definition: HERE_TEMPLATE,
    read: async ({ memory }, subject, uri) => {
      const request = recallRequestIn(uri);
      return request === undefined ? undefined : readHere(memory, subject, uri, request);
    },
  },
];
