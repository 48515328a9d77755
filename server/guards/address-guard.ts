/** Refuses ambiguous addresses: malformed percent-encoding, or a repeated parameter. */
import type { MiddlewareHandler } from "hono";
import { HelmdeckError } from "../../engine/errors.ts";
import type { ServerEnv } from "../caller.ts";

/** Otherwise `%FF` would be read as the characters %, F, F, which is a different key. */
export const guardAddress: MiddlewareHandler<ServerEnv> = async (c, next) => {
  const { pathname, search, searchParams } = new URL(c.req.url);
  requireDecodable(pathname);
  requireDecodable(search);
  const names = [...searchParams.keys()];
  if (new Set(names).size < names.length) {
    throw refuse("A parameter appears twice in the address.");
  }
  return next();
};

function requireDecodable(part: string): void {
  if (isDecodable(part)) return;
  throw refuse("The address is not percent-encoded UTF-8; encode it, as encodeURIComponent does.");
}

export function isDecodable(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}

function refuse(message: string): HelmdeckError {
  return new HelmdeckError("invalid_input", message);
}
