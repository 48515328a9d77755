/** Another protocol served beside REST, behind the same guards and the same authentication. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Caller, ServerEnv } from "./caller.ts";
import { failures, jsonBody } from "./rest/rest-answers.ts";

export interface MountedRequest {
  readonly caller: Caller;
  /** The JSON body, already bounded and parsed; undefined when there was none. The request's own body has been read. */
  readonly body: unknown;
}

type MountedMethod = "get" | "post" | "delete";

export interface Mount {
  /** Below `/api/v1`, such as `/mcp`. */
  readonly path: string;
  /** Each with what it does, in a line for the API's description. */
  readonly methods: Readonly<Partial<Record<MountedMethod, string>>>;
  /** The request's signal fires when the client goes away. */
  handle(request: Request, context: MountedRequest): Promise<Response>;
  /** Ends what is open for long, such as event streams, so that the server can stop. */
  close?(): Promise<void>;
}

export function addMount(app: OpenAPIHono<ServerEnv>, mount: Mount): void {
  const path = `/api/v1${mount.path}`;
  const tag = mount.path.slice(1);
  for (const [method, summary] of Object.entries(mount.methods) as [MountedMethod, string][]) {
    app.openAPIRegistry.registerPath({
      method,
      path,
      tags: [tag],
      operationId: `${tag}_${method}`,
      summary,
      ...(method === "post" && { request: { body: jsonBody(z.unknown()) } }),
      responses: { 200: { description: "As the protocol says." }, ...failures(413, 415) },
    });
    app.on(method, path, (c) => mount.handle(c.req.raw, { caller: c.get("caller"), body: c.get("body") }));
  }
}
