/** A page for whoever is not known yet, or for what failed: the frame and the looks of the pages, and nothing of a memory. */
import { html } from "hono/html";
import type { PagesOptions } from "./pages.ts";

export interface PlainPage extends Pick<PagesOptions, "base" | "frameAncestors"> {
  readonly title: string;
  /** Made with hono's `html`, which escapes what is put in. */
  readonly body: ReturnType<typeof html>;
  /** Default 200. */
  readonly status?: number;
}

export async function plainPage({ title, body, frameAncestors, status = 200 }: PlainPage): Promise<Response> {
  const page =
    await html`<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><main><h1>${title}</h1>${body}</main></html>`;
  return new Response(String(page), {
    status,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": `default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors ${frameAncestors}`,
    },
  });
}
