/**
 * Validates the address of an embedding service before any request.
 *
 * The HTTP client's errors would show credentials or a query in it, so an address with those is refused without being shown.
 */
import { type HelmdeckError, invalidField } from "../engine/errors.ts";

/** Without trailing slashes. Throws `invalid_input`. */
export function checkAddress(address: string): string {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw refused("must begin with http:// or https:// and name a host");
  if (url.username !== "" || url.password !== "")
    throw refused("must not hold a user name or password; the key has its own setting");
  if (url.search !== "" || url.hash !== "") throw refused("must not have a query or a fragment");
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function refused(why: string): HelmdeckError {
  return invalidField("address", why, { named: "The address of the embedding service" });
}
