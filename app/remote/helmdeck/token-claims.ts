/** Reads a token's unverified claims, for doctor only: they grant nothing, since only helmdeck can verify them. */
import * as z from "zod";

const claimsSchema = z.object({
  sub: z.string().optional(),
  exp: z.number().optional(),
  scopes: z.array(z.string()).nullish(),
});

export interface TokenClaims {
  readonly scopes: readonly string[];
  /** Unix milliseconds. */
  readonly expiresAt?: number;
}

/** Empty when it is not such a token. */
export function claimsOf(token: string): TokenClaims {
  const read = claimsSchema.safeParse(payloadOf(token));
  if (!read.success) return { scopes: [] };
  const { scopes, exp } = read.data;
  return { scopes: scopes ?? [], ...(exp !== undefined && { expiresAt: exp * 1_000 }) };
}

function payloadOf(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  } catch {
    return undefined;
  }
}
