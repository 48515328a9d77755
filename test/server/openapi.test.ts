/** The OpenAPI description is valid, complete, and the same as the copy in docs/. */
import { readFile } from "node:fs/promises";
import { validate } from "@readme/openapi-parser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { currentDescription, NOTHING_BEHIND, OPENAPI_FILE } from "../../scripts/write-openapi.ts";
import { mcpMount } from "../../server/mcp/mcp-over-http.ts";
import { ContextServer } from "./fixtures/context-server.ts";

const OPEN_PATHS = new Set(["/healthz", "/readyz", "/version", "/api/v1/openapi.json"]);

let served: ContextServer;
let description: Record<string, Record<string, Record<string, unknown>>>;
beforeAll(async () => {
  served = await ContextServer.open({ mounts: [mcpMount(NOTHING_BEHIND)] });
  description = JSON.parse(await currentDescription());
});
afterAll(() => served.close());

describe("the OpenAPI description", () => {
  it("is valid OpenAPI 3.1", async () => {
    // The validator resolves references in place.
    const result = await validate(structuredClone(description) as unknown as Parameters<typeof validate>[0]);
    expect(result).toMatchObject({ valid: true, specification: "OpenAPI" });
    expect(description.openapi).toBe("3.1.0");
  });

  it("equals the file in docs/reference, which node scripts/write-openapi.ts writes", async () => {
    expect(await readFile(OPENAPI_FILE, "utf8")).toBe(await currentDescription());
  });

  it("is served without a token", async () => {
    const { status, body } = await served.answerTo("/api/v1/openapi.json");
    expect([status, body]).toEqual([200, description]);
  });

  it("describes every route, and no other", () => {
    const routed = served.server.app.routes
      .filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method} ${path.replaceAll(/:([^/]+)/g, "{$1}")}`);
    const described = Object.entries(description.paths ?? {}).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual([...new Set(routed)].sort());
  });

  it("lists 400, 401, 403, 429 and 503 for every operation that needs a caller", () => {
    for (const [path, operations] of Object.entries(description.paths ?? {})) {
      if (OPEN_PATHS.has(path)) continue;
      for (const operation of Object.values(operations)) {
        expect(operation, path).toMatchObject({
          operationId: expect.any(String),
          responses: { 400: {}, 401: {}, 403: {}, 429: {}, 503: {} },
        });
      }
    }
  });
});
