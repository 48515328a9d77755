/**
 * Security headers: a browser may show a page, run its one script, and send its forms back to the same origin.
 *
 * Threats: stored text that gets past the escaping; other sites that frame a page, guess its content or send its forms. Style
 * and script are allowed by their hash, so nothing else runs and nothing is loaded. The Control UI's frame would not send its
 * cookie with such a load anyway.
 */
import { createHash } from "node:crypto";
import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

export interface Place {
  /** The path prefix: "" or, for example, `/plugins/helmdeck-memory`. */
  readonly base: string;
  /** Who may frame the pages. */
  readonly frameAncestors: "'none'" | "'self'";
  /** Each open page asks it once a minute. */
  readonly alivePath?: string;
}

export function securityHeaders({ frameAncestors, alivePath }: Place): Readonly<Record<string, string>> {
  return {
    "Content-Security-Policy": [
      "default-src 'none'",
      `style-src '${hashOf(STYLE)}'`,
      `script-src '${hashOf(SCRIPT)}'`,
      ...(alivePath === undefined ? [] : ["connect-src 'self'"]),
      "form-action 'self'",
      "base-uri 'none'",
      `frame-ancestors ${frameAncestors}`,
    ].join("; "),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
  };
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
