/**
 * Tokens whose signature was checked already, so that the next request that bears one need not wait for that again.
 *
 * Who attacks: someone who hopes that a token counts for longer, or for more, than it was made for. What stops them: only what
 * passed every check is remembered, by the hash of all of its characters and for the one key that this was made with; whether it
 * has begun and has not expired is asked anew each time, and what is not certainly good goes through every check again.
 */
import { hash, type KeyObject } from "node:crypto";
import { isInForce, type VerifiedToken, verifyToken } from "./tokens.ts";

/** The one that was checked first gives way. */
const MOST_TOKENS = 4_096;

export class KnownTokens {
  readonly #key: KeyObject;
  readonly #most: number;
  readonly #known = new Map<string, VerifiedToken>();

  constructor(key: KeyObject, most = MOST_TOKENS) {
    this.#key = key;
    this.#most = most;
  }

  /** As {@link verifyToken}. */
  async verify(token: string, now: number): Promise<VerifiedToken> {
    const name = hash("sha256", token, "base64");
    const known = this.#known.get(name);
    if (known !== undefined && isInForce(known, now)) return known;
    this.#known.delete(name);
    const verified = await verifyToken(this.#key, token, now);
    this.#keep(name, verified);
    return verified;
  }

  #keep(name: string, verified: VerifiedToken): void {
    const [first] = this.#known.keys();
    if (first !== undefined && this.#known.size >= this.#most) this.#known.delete(first);
    this.#known.set(name, verified);
  }
}
