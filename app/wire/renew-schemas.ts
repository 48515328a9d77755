/** Renewing a fact: schemas for REST and MCP. The reply is the fact. */
import * as z from "zod";
import type { RenewInput } from "../memory.ts";
import { STORE_PARAMETERS } from "./store-tool.ts";

export const RENEW_DESCRIPTION =
  "Keep a fact that would expire: sets a new expiry, 90 days from now unless ttl_seconds is given, and changes nothing else." +
  " my-memory lists what expires within 14 days. Only for what is still true.";

export const renewRequestSchema = z.strictObject({
  key: z.string().meta({
    minLength: 1,
    description: "The fact's key, path, docid or citation.",
  }),
  ttl_seconds: z
    .number()
    .nullish()
    .meta({ description: STORE_PARAMETERS.properties.ttl_seconds.description }),
});

export type RenewRequest = z.infer<typeof renewRequestSchema>;

export function renewOfRequest({ key, ttl_seconds }: RenewRequest): RenewInput {
  return { key, ...(typeof ttl_seconds === "number" && { ttlSeconds: ttl_seconds }) };
}
