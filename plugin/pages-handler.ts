/**
 * The pages of the tab "Agent memory", as a read-only HTTP handler of OpenClaw's gateway.
 *
 * Threat: another web site, open in the operator's browser. The browser sends the cookie of the Control UI's frame with that
 * site's requests too (`SameSite=None`, because the frame has an opaque origin). So the content security policy lets nobody
 * else frame these pages, and a request from another site is refused before memory is searched: the site could not read the
 * answer, but it could measure how long a search takes.
 */
import { getPluginRuntimeGatewayRequestScope } from "openclaw/plugin-sdk/plugin-runtime";
import { makePages } from "../pages/pages.ts";
import type { HttpHandler } from "./openclaw-api.ts";
import { type PagesParts, viewerOf } from "./pages-viewer.ts";

type HostRequest = Parameters<HttpHandler>[0];

/** The host's view of the current request; undefined fields if it does not know the caller. */
export type RequestScope = () => Pick<HostScope, "client" | "revalidate"> | undefined;
type HostScope = NonNullable<ReturnType<typeof getPluginRuntimeGatewayRequestScope>>;

const OUR_OWN: ReadonlySet<unknown> = new Set([undefined, "none", "same-origin"]);

export function makePagesHandler(
  base: string,
  parts: PagesParts,
  requestScope: RequestScope = getPluginRuntimeGatewayRequestScope,
): HttpHandler {
  const pages = makePages({
    base,
    frameAncestors: "'self'",
    viewerOf: async ({ url }) =>
      viewerOf(new URL(url).searchParams, requestScope()?.client?.connect.scopes, parts),
  });
  return async (request, response) => {
    const answer = refusalOf(request) ?? (await pages.fetch(requestFrom(request)));
    const body = Buffer.from(await answer.arrayBuffer());
    // The caller's rights can change during the search. If they did, the host answers the request and this call throws.
    await requestScope()?.revalidate?.();
    response.statusCode = answer.status;
    response.setHeaders(answer.headers).end(body);
    return true;
  };
}

function refusalOf({ method, headers }: HostRequest): Response | undefined {
  if (method !== "GET" && method !== "HEAD") {
    return new Response("These pages are read-only. To change memory, run the commands that they show.\n", {
      status: 405,
      headers: { allow: "GET, HEAD", ...PLAIN },
    });
  }
  if (OUR_OWN.has(headers["sec-fetch-site"]) || isFromTheFrame(headers)) return undefined;
  return new Response("Open the Agent memory tab in OpenClaw's Control UI.\n", {
    status: 403,
    headers: PLAIN,
  });
}

/**
 * A link in the frame counts as cross-site, because the frame has an opaque origin. A same-site request would come from a
 * page on another port of this host. Style and script are inline.
 */
function isFromTheFrame(headers: HostRequest["headers"]): boolean {
  return headers["sec-fetch-dest"] === "iframe" && headers["sec-fetch-site"] === "cross-site";
}

const PLAIN = { "content-type": "text/plain; charset=utf-8" };

/** Only method and address: no page needs a token, a cookie or a session name. */
function requestFrom({ method = "GET", url = "/" }: HostRequest): Request {
  return new Request(new URL(url, "http://gateway.invalid"), { method });
}
