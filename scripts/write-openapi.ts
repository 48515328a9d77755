/** Writes the server's OpenAPI description into docs/reference/openapi.json: `node scripts/write-openapi.ts`. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ServerContext } from "../packs/server-context.ts";
import { createServer } from "../server/create-server.ts";
import { mcpMount } from "../server/mcp/mcp-over-http.ts";

export const OPENAPI_FILE = fileURLToPath(new URL("../docs/reference/openapi.json", import.meta.url));

export const NOTHING_BEHIND = {
  memoryState: { state: "ephemeral", warning: "" },
  packs: { list: () => [] },
  pipelines: { list: () => [] },
} as unknown as ServerContext; // nothing else is used

/** The description as served. It is generated from the routes without calling them. */
export async function currentDescription(): Promise<string> {
  const server = createServer(NOTHING_BEHIND, { mounts: [mcpMount(NOTHING_BEHIND)] });
  const answer = await server.app.request("/api/v1/openapi.json");
  return `${JSON.stringify(await answer.json(), null, 2)}\n`;
}

if (import.meta.main) writeFileSync(OPENAPI_FILE, await currentDescription());
