/** The pages as one Hono app: always readable, and with forms if the viewer's surface supports them. */
import { type Context, Hono } from "hono";
import { failurePage, noSuchPage } from "./failures.ts";
import { documentOf } from "./layout.ts";
import { Links } from "./links.ts";
import type { Answer, Fields, PageContext } from "./page.ts";
import { type Route, SUBMISSIONS, VIEWS } from "./routes.ts";
import { type FrameAncestors, securityHeaders } from "./security.ts";
import type { Viewer } from "./viewer.ts";

export interface PagesOptions {
  /** The path prefix: "" or, for example, `/plugins/helmdeck-memory`. */
  readonly base: string;
  /** Who may frame the pages. */
  readonly frameAncestors: FrameAncestors;
  /** Called for each request. Throws a HelmdeckError, which is shown as a page, or returns its own page, such as a sign-in. */
  viewerOf(request: Request): Promise<Viewer | Response>;
  /** Called for every failure that is shown as a page. */
  readonly onFailure?: (thrown: unknown, request: Request) => void;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
}

/** Handles only its own routes, so it can be mounted next to other routes. */
export function makePages(options: PagesOptions): Hono {
  const { base, frameAncestors, now = Date.now } = options;
  const headers = securityHeaders(frameAncestors);
  const app = new Hono({ strict: false });

  const respond = (c: Context, answer: Answer, context?: PageContext): Response | Promise<Response> => {
    for (const [name, value] of Object.entries(headers)) c.header(name, value);
    if ("location" in answer) return c.redirect(answer.location, 303);
    return c.html(documentOf(answer, base, context), answer.status ?? 200);
  };

  const serve =
    (work: (context: PageContext, fields: Fields) => Promise<Answer>) =>
    async (c: Context): Promise<Response> => {
      const fields = await fieldsOf(c);
      let context: PageContext | undefined;
      try {
        const viewer = await options.viewerOf(c.req.raw);
        if (viewer instanceof Response) return viewer;
        context = contextOf(viewer, base, now(), c.req.url);
        return await respond(c, await work(context, fields), context);
      } catch (error) {
        options.onFailure?.(error, c.req.raw);
        return respond(c, failurePage(error, fields, context), context);
      }
    };

  const show = ({ show: whole, counts }: Route) =>
    serve((context) => (context.viewer.sees === "values" ? whole(context) : counts(context)));
  for (const [path, route] of Object.entries(VIEWS)) app.get(`${base}${path}` || "/", show(route));
  for (const [path, submission] of Object.entries(SUBMISSIONS)) app.post(`${base}${path}`, serve(submission));
  app.notFound(serve(async (context) => noSuchPage(context)));
  return app;
}

function contextOf(viewer: Viewer, base: string, now: number, url: string): PageContext {
  const { memory, subject, choices } = viewer;
  const shown = choices.length > 1 ? choices.find(({ isShown }) => isShown)?.id : undefined;
  return { viewer, memory, subject, now, links: new Links(base, shown), query: new URL(url).searchParams };
}

/** Empty for a GET. Browsers send line ends as "\r\n". Uploaded files are ignored. */
async function fieldsOf(c: Context): Promise<Fields> {
  if (c.req.method !== "POST") return new Map();
  const form = await c.req.formData().catch(() => new FormData());
  const texts = [...form].filter((field): field is [string, string] => typeof field[1] === "string");
  return new Map(texts.map(([name, value]) => [name, value.replaceAll(/\r\n?/g, "\n")]));
}
