/** A page for an unknown viewer or a failure: with the pages' layout, and without any memory content. */
import { heading } from "./components/parts.ts";
import { type Html, html } from "./html.ts";
import { documentOf } from "./layout.ts";
import type { PagesOptions } from "./pages.ts";
import { securityHeaders } from "./security.ts";

export interface PlainPage extends Pick<PagesOptions, "base" | "frameAncestors"> {
  readonly title: string;
  /** Made with Hono's `html`, which escapes inserted text. */
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
