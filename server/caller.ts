/** Who a request comes from, as the authentication found it, and how handlers get at it. */
import type { HttpBindings } from "@hono/node-server";
import type { RequestConnection } from "./connections.ts";

/** Without authentication everybody is `unknown`, and nothing vouches for it. */
export interface Caller {
  /** The token's `sub`, or `unknown`. */
  readonly subject: string;
  /** A token vouches for the subject. */
  readonly authenticated: boolean;
  readonly scopes: readonly string[];
  /** When the token ends, in milliseconds since 1970; absent without one. */
  readonly expiresAt?: number;
}

/** Of somebody who looks at the pages. */
export interface PageSession {
  readonly caller: Caller;
  /** Stands in each form of this session, and nowhere else. */
  readonly formToken: string;
}

/** May see other callers' defaults and counts. */
export const ADMIN_SCOPE = "admin";
/** May read /metrics, and nothing else of others. */
export const METRICS_SCOPE = "metrics";

/** May have its own tool runs recorded: rows that else only the server writes. */
export const RECORD_SCOPE = "record";

/** What middleware leaves for the handlers of one request. */
export interface ServerEnv {
  /** None in a test without a socket. */
  readonly Bindings: Partial<HttpBindings & { readonly connection: RequestConnection }>;
  readonly Variables: {
    readonly requestId: string;
    readonly caller: Caller;
    /** The parsed JSON body, when the request had one. */
    readonly body: unknown;
    /** Of a page alone. */
    readonly form: URLSearchParams;
    /** Of a page alone; undefined: nobody is signed in. */
    readonly pageSession: PageSession | undefined;
  };
}
