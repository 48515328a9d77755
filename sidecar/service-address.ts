/**
 * The address of an embedding service, checked before anything is sent there.
 *
 * A name and password or a query would end up in error texts of the HTTP client, so an address that has them is refused
 * without being shown.
 */
import { type HelmdeckError, invalidField } from "../engine/basics.ts";

/** Without trailing slashes. Throws `invalid_input`. */
export function checkAddress(address: string): string {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw refused("must begin with http:// or https:// and name a host");
  if (url.username !== "" || url.password !== "")
    throw refused("must not hold a name or a password; a key has a setting of its own");
  if (url.search !== "" || url.hash !== "") throw refused("must not have a query or a fragment");
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function refused(why: string): HelmdeckError {
  return invalidField("address", why, { named: "The address of the embedding service" });
}
