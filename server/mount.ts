/** Another protocol served beside REST, behind the same guards and the same authentication. */
import type { Caller } from "./caller.ts";

export interface MountedRequest {
  readonly caller: Caller;
  /** The JSON body, already bounded and parsed; undefined when there was none. The request's own body has been read. */
  readonly body: unknown;
}

export interface Mount {
  /** Below `/api/v1`, such as `/mcp`. */
  readonly path: string;
  readonly methods: readonly ("GET" | "POST" | "DELETE")[];
  /** The request's signal fires when the client goes away. */
  handle(request: Request, context: MountedRequest): Promise<Response>;
  /** Ends what is open for long, such as event streams, so that the server can stop. */
  close?(): Promise<void>;
}
