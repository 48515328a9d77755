/**
 * A cache of verified tokens, so that later requests with the same token skip the signature check.
 *
 * Threat: a token that is accepted for longer, or for more, than it was made for. Defence: only fully verified tokens are
 * cached, by the hash of the complete token and for one key. The validity period is checked on every request, and any other
 * token goes through all checks again.
 */
import { hash, type KeyObject } from "node:crypto";
import { BoundedMap } from "../engine/bounded-map.ts";
import { isInForce, type VerifiedToken, verifyToken } from "./tokens.ts";

/** The oldest entry is evicted. */
const MOST_TOKENS = 4_096;

export class KnownTokens {
  readonly #key: KeyObject;
  readonly #known: BoundedMap<string, VerifiedToken>;

  constructor(key: KeyObject, most = MOST_TOKENS) {
    this.#key = key;
    this.#known = new BoundedMap(most);
  }

  /** Like {@link verifyToken}. */
  async verify(token: string, now: number): Promise<VerifiedToken> {
    const name = hash("sha256", token, "base64");
    const known = this.#known.get(name);
    if (known !== undefined && isInForce(known, now)) return known;
    this.#known.delete(name);
    const verified = await verifyToken(this.#key, token, now);
    this.#known.set(name, verified);
    return verified;
  }
}
