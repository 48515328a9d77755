/** Another protocol next to REST, with the same guards and authentication. */
import type { KeyObject } from "node:crypto";
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import type { Caller, FailureReply, ServerEnv } from "./caller.ts";
import { failures, jsonBody } from "./rest/rest-answers.ts";

export interface MountedRequest {
  readonly caller: Caller;
  /** Those of the server's tokens, the signing one first; none without authentication. */
  readonly secrets: readonly KeyObject[];
  /** The JSON body, size-checked and parsed; undefined if there was none. The request's own body is already consumed. */
  readonly body: unknown;
  /** Takes what was thrown for each failure that an answer of this protocol tells, with its HTTP status 200. */
  readonly onFailure: (thrown: unknown) => void;
}

type MountedMethod = "get" | "post" | "delete";

export interface Mount {
  /** The path below `/api/v1`, such as `/mcp`. */
  readonly path: string;
  /** Each method with a one-line summary for the API description. */
  readonly methods: Readonly<Partial<Record<MountedMethod, string>>>;
  /** The request's signal fires when the client disconnects. */
  handle(request: Request, context: MountedRequest): Promise<Response>;
  /** The body of an answer to a failure before `handle`, such as a refused token. */
  failAs(reply: FailureReply): object;
  /** Ends long-lived responses such as event streams, so that the server can stop. */
  close?(): Promise<void>;
}

export function pathOf({ path }: Mount): string {
  return `/api/v1${path}`;
}

export function failAs(mount: Mount): MiddlewareHandler<ServerEnv> {
  return (c, next) => {
    c.set("failAs", mount.failAs);
    return next();
  };
}

export function addMount(
  app: OpenAPIHono<ServerEnv>,
  mount: Mount,
  onFailure: (thrown: unknown, caller: Caller) => void,
  secrets: () => MountedRequest["secrets"],
): void {
  const path = pathOf(mount);
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
    app.on(method, path, (c) => {
      const caller = c.get("caller");
      return mount.handle(c.req.raw, {
        caller,
        secrets: secrets(),
        body: c.get("body"),
        onFailure: (thrown) => onFailure(thrown, caller),
      });
    });
  }
}
