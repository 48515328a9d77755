/**
 * The pages of the tab "Agent memory", as an HTTP handler of OpenClaw's gateway: it reads, and nothing else.
 *
 * Who attacks: another web site, open in the operator's browser. The cookie of the Control UI's frame comes along wherever
 * that browser goes (`SameSite=None`: the frame's own origin is none). So nobody else may frame these pages (their content
 * security policy), and what another site opens or fetches is refused before a memory is asked: it could not read the
 * answer, but measure how long a search takes.
 */
import { getPluginRuntimeGatewayRequestScope } from "openclaw/plugin-sdk/plugin-runtime";
import { makePages } from "../pages/index.ts";
import type { HttpHandler } from "./openclaw-api.ts";
import { type PagesParts, viewerOf } from "./pages-viewer.ts";

type HostRequest = Parameters<HttpHandler>[0];

/** What the host says of the request that is being answered; nothing of it where it does not know the caller. */
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
    // What the cookie or the device may do can have changed while memory was asked: then the host answers, and this throws.
    await requestScope()?.revalidate?.();
    response.statusCode = answer.status;
    response.setHeaders(answer.headers).end(body);
    return true;
  };
}

function refusalOf({ method, headers }: HostRequest): Response | undefined {
  if (method !== "GET" && method !== "HEAD") {
    return new Response("These pages only show. The commands that they name change something.\n", {
      status: 405,
      headers: { allow: "GET, HEAD", ...PLAIN },
    });
  }
  if (OUR_OWN.has(headers["sec-fetch-site"]) || isFromTheFrame(headers)) return undefined;
  return new Response("Open the tab Agent memory in OpenClaw's Control UI.\n", {
    status: 403,
    headers: PLAIN,
  });
}

/**
 * A link in the frame comes from another site, since the frame's origin is none, and never from the same one: that would be a
 * page on another port of this name. Style and script stand in the page.
 */
function isFromTheFrame(headers: HostRequest["headers"]): boolean {
  return headers["sec-fetch-dest"] === "iframe" && headers["sec-fetch-site"] === "cross-site";
}

const PLAIN = { "content-type": "text/plain; charset=utf-8" };

/** Method and address alone: no page needs a token, a cookie or the name of a session. */
function requestFrom({ method = "GET", url = "/" }: HostRequest): Request {
  return new Request(new URL(url, "http://gateway.invalid"), { method });
}
