/** The pages as one hono app: reads always, changes where the viewer's surface has forms. */
import { Hono } from "hono";
import { html } from "hono/html";
import type { Viewer } from "./viewer.ts";

export interface PagesOptions {
  /** Where they are served: "" or such as `/plugins/helmdeck-memory`. */
  readonly base: string;
  /** Who may put them into a frame. */
  readonly frameAncestors: "'none'" | "'self'";
  /** Asked for each request. Throws a HelmdeckError, which is shown as a page, or answers with a page of its own, such as a sign-in. */
  viewerOf(request: Request): Promise<Viewer | Response>;
}

export function makePages({ base, viewerOf }: PagesOptions): Hono {
  const app = new Hono().basePath(base);
  app.get("/", async (c) => {
    const viewer = await viewerOf(c.req.raw);
    if (viewer instanceof Response) return viewer;
    return c.html(
      html`<!doctype html><html lang="en"><title>Agent memory</title><h1>Agent memory</h1></html>`,
    );
  });
  return app;
}
