/** The store tool's description and parameters, for OpenClaw, MCP and REST. */
import { CATEGORY, DEFAULT_CATEGORY, FACT_LIMITS } from "../../engine/facts/facts-policy.ts";
import { HISTORY_LIMITS } from "../../engine/rules/history.ts";

export const STORE_DESCRIPTION =
  "Remember one fact for later conversations, when the user asks for it or tells a preference, a decision, a name, how something" +
  " is done. The same key replaces its value, so look first. If the answer names similar facts that this one corrects or replaces," +
  " store it again with supersedes; leave the others. Of one value under two keys (same_as) keep one. Not for passwords, tokens or other" +
  " secrets, files, logs, long texts, passing details, or what belongs in the repository.";

/** JSON Schema. The facts policy validates again; a host may validate earlier. */
export const STORE_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["key", "value"],
  properties: {
    key: {
      type: "string",
      minLength: 1,
      maxLength: FACT_LIMITS.keyBytes,
      description: "A short name, such as deploy/preference. Case matters.",
      examples: ["deploy/preference"],
    },
    value: {
      type: "string",
      minLength: 1,
      maxLength: FACT_LIMITS.valueBytes,
      description: "The fact, in a sentence or a few.",
      examples: ["Deploys go through Konflux, never straight to the cluster."],
    },
    category: {
      type: "string",
      pattern: CATEGORY.source,
      description: `The kind of fact: 1 to 64 of a-z 0-9 _ . -; left out: as before, or ${DEFAULT_CATEGORY}.`,
    },
    tags: {
      type: "array",
      maxItems: FACT_LIMITS.tags,
      items: { type: "string", minLength: 1, maxLength: FACT_LIMITS.tagBytes },
      description: "Other words to find it by; at most 32. Left out: as before; [] drops them.",
    },
    supersedes: {
      type: "array",
      maxItems: HISTORY_LIMITS.superseded,
      items: { type: "string", minLength: 1 },
      description:
        "Keys of facts this one makes outdated, at most 9. Only what the user's words really replace.",
      examples: ["preferences/deploy-tool"],
    },
    ttl_seconds: {
      type: "integer",
      description: "How long to keep it, 3600 to 31536000; left out: the default, or the end chosen before.",
    },
  },
} as const;

/** Descriptions of history, undo and pins for models: small, since OpenClaw loads them too. */
export const HISTORY_DESCRIPTION =
  "What a fact held before, newest first. For questions such as what somebody used to prefer, or since when something is so. None" +
  " is current. At most ten, also of facts it superseded.";

export const UNDO_DESCRIPTION =
  "Take back the last store of a fact: its former value and facts it superseded return. To correct it, store it." +
  " Only the answer keeps the undone value. Called again, it undoes the next.";

export const PIN_DESCRIPTION =
  "Keep a fact in every prompt, for a year, if the user asks for it. At most 10 short ones. Only the user keeps it longer.";
