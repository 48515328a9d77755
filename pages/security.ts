/**
 * What a browser may do with a page: show it, run its one script, and send its forms back to where it came from.
 *
 * Who attacks: whoever gets text stored, should something of it ever pass the escaping; and other sites, which would frame a
 * page, guess what is on it, or send its forms. Style and script are allowed by what they say, so that nothing else runs and nothing is
 * loaded: the Control UI's frame would not even send its cookie along.
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
