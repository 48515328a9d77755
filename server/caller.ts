/** The caller of a request, and the context in which handlers find it. */
import type { HttpBindings } from "@hono/node-server";
import type { ErrorReply } from "../app/wire/schemas.ts";
import type { HelmdeckError } from "../engine/errors.ts";
import type { RequestConnection } from "./connections.ts";

/** Without authentication, every caller is `unknown` and unauthenticated. */
export interface Caller {
  /** The token's `sub`, or `unknown`. */
  readonly subject: string;
  /** The subject comes from a valid token. */
  readonly authenticated: boolean;
  readonly scopes: readonly string[];
  /** The token's expiry in milliseconds since 1970; absent without a token. */
  readonly expiresAt?: number;
}

/** The session of a viewer of the pages. */
export interface PageSession {
  readonly caller: Caller;
  /** Included in each form of this session, and nowhere else. */
  readonly formToken: string;
  /** Whether the token that it was signed in with is still accepted. */
  readonly isAccepted: () => Promise<boolean>;
}

/** May see other callers' defaults and counts. */
export const ADMIN_SCOPE = "admin";
/** May read /metrics, and nothing else of other callers. */
export const METRICS_SCOPE = "metrics";

/** May record its own tool runs; otherwise only the server writes such rows. */
export const RECORD_SCOPE = "record";

/** The envelope of a failure, with its id in the log. */
export type FailureReply = ErrorReply & { readonly request_id: string };

/** What a token can be made with. Servers accept tokens with others, which grant nothing. */
export const SCOPES: readonly string[] = [RECORD_SCOPE, ADMIN_SCOPE, METRICS_SCOPE];

/** Values that middleware sets for the handlers of one request. */
export interface ServerEnv {
  /** Undefined in a test without a socket. */
  readonly Bindings: Partial<HttpBindings & { readonly connection: RequestConnection }>;
  readonly Variables: {
    readonly requestId: string;
    /** Why the request failed; undefined if it did not. */
    readonly failure: HelmdeckError | undefined;
    /** How another protocol tells a failure; undefined for REST. */
    readonly failAs: ((reply: FailureReply) => object) | undefined;
    readonly caller: Caller; // not before the request is authenticated
    /** For whom the request counts: its caller, or the subject of a token that was signed here and is refused. */
    readonly subject: string | undefined;
    /** The parsed JSON body, if the request had one. */
    readonly body: unknown;
    /** For pages only. */
    readonly form: URLSearchParams;
    /** For pages only; undefined if nobody is signed in. */
    readonly pageSession: PageSession | undefined;
  };
}
