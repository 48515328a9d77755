/** What a person in a browser sees where a program would get JSON: a sign-in, what was refused, an address that leads nowhere. */
import type { MiddlewareHandler } from "hono";
import { html } from "hono/html";
import { matchedRoutes } from "hono/route";
import { asHelmdeckError, HelmdeckError } from "../../app/index.ts";
import { plainPage, typedText } from "../../pages/index.ts";
import { failureHeaders } from "../answer-failures.ts";
import type { ServerEnv } from "../caller.ts";
import { statusOf } from "../status.ts";

/** The fields of a form that was refused. */
type Typed = Iterable<readonly [string, string]>;

export const SIGN_IN_PATH = "/sign-in";
/** Nobody else shows them in a frame. */
export const PLACE = { base: "", frameAncestors: "'none'" } as const;

/** Turns what the guards refused, or a defect, from the JSON that every failure becomes into a page. */
export const failAsPage: MiddlewareHandler<ServerEnv> = async (c, next) => {
  await next();
  if (c.error !== undefined) c.res = await failurePage(asHelmdeckError(c.error), c.get("form"));
};

/** For addresses that are nobody's: asked before who it is, so that nobody has to sign in to learn that there is nothing. */
export const missAsPage: MiddlewareHandler<ServerEnv> = async (c, next) => {
  const isRoute = matchedRoutes(c).some(({ method }) => method !== "ALL");
  const isOfBrowser = c.req.header("accept")?.includes("text/html") === true;
  if (isRoute || !isOfBrowser || c.req.path.startsWith("/api/")) return next();
  return failurePage(new HelmdeckError("not_found", "There is no such page."));
};

export async function signInPage(problem?: HelmdeckError, typed?: Typed): Promise<Response> {
  const refusal = problem ?? new HelmdeckError("missing_bearer", "");
  const page = await plainPage({
    ...PLACE,
    title: "Sign in",
    status: statusOf(refusal.code),
    body: html`${problem && html`<div class="notice bad" role="alert"><p>${problem.message}</p></div>`}
<form class="card pad" method="post" action="${SIGN_IN_PATH}">
<div class="field"><label for="token">Token</label>
<input id="token" name="token" type="password" required autofocus autocomplete="off" spellcheck="false" aria-describedby="token-help">
<p class="hint" id="token-help">A token opens the memory of the subject that it names. To make one where the server runs: <code>helmdeck-memory token --subject main</code></p></div>
<button class="primary" type="submit">Sign in</button>
</form>${typed && typedText(typed)}`,
  });
  for (const [name, value] of Object.entries(failureHeaders(refusal))) page.headers.set(name, value);
  return page;
}

function failurePage(error: HelmdeckError, typed: Typed = []): Promise<Response> {
  if (error.code === "missing_bearer" || error.code === "invalid_token") return signInPage(error, typed);
  return plainPage({
    ...PLACE,
    title: error.code === "not_found" ? "Not found" : "This was refused",
    status: statusOf(error.code),
    body: html`<p>${error.message}</p><p><a href="/">Back to the memory</a></p>${typedText(typed)}`,
  });
}
