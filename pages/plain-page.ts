/** A page for whoever is not known yet, or for what failed: the frame and the looks of the pages, and nothing of a memory. */
import { heading } from "./components/parts.ts";
import { type Html, html } from "./html.ts";
import { documentOf } from "./layout.ts";
import type { PagesOptions } from "./pages.ts";
import { securityHeaders } from "./security.ts";

export interface PlainPage extends Pick<PagesOptions, "base" | "frameAncestors"> {
  readonly title: string;
  /** Made with hono's `html`, which escapes what is put in. */
  readonly body: Html;
  /** Default 200. */
  readonly status?: number;
}

export async function plainPage(page: PlainPage): Promise<Response> {
  const { base, frameAncestors, title, body, status = 200 } = page;
  const document = await documentOf({ title, body: html`${heading(title)}${body}` }, base);
  const headers = { "Content-Type": "text/html; charset=utf-8", ...securityHeaders(frameAncestors) };
  return new Response(String(document), { status, headers });
}
