/** Failures as pages instead of JSON, for browsers: a sign-in, a refusal, an unknown address. */
import type { MiddlewareHandler } from "hono";
import { html } from "hono/html";
import { matchedRoutes } from "hono/route";
import { asHelmdeckError } from "../../engine/as-helmdeck-error.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { typedText } from "../../pages/components/typed-text.ts";
import { plainPage } from "../../pages/plain-page.ts";
import { failureHeaders } from "../answer-failures.ts";
import type { ServerEnv } from "../caller.ts";
import { statusOf } from "../status.ts";

/** The fields of a form that was refused. */
type Typed = Iterable<readonly [string, string]>;

export const SIGN_IN_PATH = "/sign-in";
/** No other site may frame them. */
export const PLACE = { base: "", frameAncestors: "'none'" } as const;

/** Turns the JSON of a failure (a guard's refusal or a bug) into a page. */
export const failAsPage: MiddlewareHandler<ServerEnv> = async (c, next) => {
  await next();
  if (c.error !== undefined) c.res = await failurePage(asHelmdeckError(c.error), c.get("form"));
};

/** For unknown addresses. Checked before authentication, so that nobody has to sign in to see a 404. */
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
<p class="hint" id="token-help">A token opens the memory of its subject. To make one, run on the server: <code>helmdeck-memory token --subject main</code></p></div>
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
    title: error.code === "not_found" ? "Not found" : "Refused",
    status: statusOf(error.code),
    body: html`<p>${error.message}</p><p><a href="/">Back to the memory</a></p>${typedText(typed)}`,
  });
}
