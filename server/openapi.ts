/** The OpenAPI 3.1 description, generated from the routes and their validation schemas. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { ServerEnv } from "./caller.ts";
import { json } from "./rest/rest-answers.ts";

export const OPENAPI_PATH = "/api/v1/openapi.json";

const ABOUT =
  "Memory, packs and pipelines of helmdeck for any client. Each caller sees only its own memory; the caller is the `sub` of the" +
  " bearer token. Every failure has the same envelope, and its codes are listed in docs/errors.md.";

interface Described {
  readonly version: string;
  /** Absent: where the description was fetched from. */
  readonly publicOrigin?: string;
}

export function addDescriptionRoute(app: OpenAPIHono<ServerEnv>, described: Described): void {
  app.openAPIRegistry.registerPath({
    method: "get",
    path: OPENAPI_PATH,
    tags: ["operations"],
    operationId: "describe",
    summary: "This description.",
    security: [],
    responses: { 200: json("OpenAPI 3.1.", z.looseObject({ openapi: z.string() })) },
  });
  // Made once, because it takes many milliseconds and anybody may request it.
  let description: string | undefined;
  app.get(OPENAPI_PATH, (c) => {
    description ??= JSON.stringify(describeApi(app, described));
    return c.body(description, 200, { "Content-Type": "application/json" });
  });
}

function describeApi(app: OpenAPIHono<ServerEnv>, { version, publicOrigin }: Described) {
  const description = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "helmdeck memory",
      version,
      description: ABOUT,
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    ...(publicOrigin !== undefined && { servers: [{ url: publicOrigin }] }),
    security: [{ bearer: [] }],
    tags: [
      { name: "memory", description: "Facts, the corpus, and defaults learned from past runs." },
      { name: "packs", description: "Packs and their files." },
      { name: "pipelines", description: "Chains of packs." },
      {
        name: "mcp",
        description: "MCP over Streamable HTTP. The MCP specification describes its messages.",
      },
      { name: "operations", description: "For the operator of the server." },
    ],
  });
  return {
    ...description,
    components: {
      ...description.components,
      securitySchemes: {
        bearer: { type: "http" as const, scheme: "bearer", bearerFormat: "JWT" },
      },
    },
  };
}
