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

export type FrameAncestors = "'none'" | "'self'";

export function securityHeaders(frameAncestors: FrameAncestors): Readonly<Record<string, string>> {
  return {
    "Content-Security-Policy": [
      "default-src 'none'",
      `style-src '${hashOf(STYLE)}'`,
      `script-src '${hashOf(SCRIPT)}'`,
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
