/** The tool that stores a fact, as a model is told of it: what OpenClaw, MCP and REST show is made from this. */
import { DEFAULT_CATEGORY, FACT_LIMITS, HISTORY_LIMITS, RESERVED_CATEGORIES } from "../../engine/index.ts";

export const STORE_DESCRIPTION =
  "Remember one fact for later conversations: a preference, a decision, a name, how something is done. It is encrypted at rest" +
  " and found again by search. Storing under a key that exists replaces its value, so look at my-memory first. Where the answer names" +
  " similar facts, read them: if the new fact corrects or replaces one of them, store it once more with supersedes, so that only what" +
  " holds now is found; if they say other things, leave them. Where it names the same value in same_as, keep one of the two. Not for passwords," +
  " tokens or other secrets, not for files, logs or long texts, not for passing details, and not for what belongs in the repository.";

/** JSON Schema. The facts policy checks what is stored; a host may check this before. */
export const STORE_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["key", "value"],
  properties: {
    key: {
      type: "string",
      minLength: 1,
      maxLength: FACT_LIMITS.keyBytes,
      description:
        "A short name that will be looked for, such as deploy/preference. Exact: case matters. At most 512 bytes.",
      examples: ["deploy/preference"],
    },
    value: {
      type: "string",
      minLength: 1,
      maxLength: FACT_LIMITS.valueBytes,
      description:
        "The fact itself, in a sentence or a few, at most 64 KiB. No secrets, no file contents, no logs: they belong elsewhere.",
      examples: ["Deploys go through Konflux, never straight to the cluster."],
    },
    category: {
      type: "string",
      pattern: "^[a-z0-9][a-z0-9_.-]{0,63}$",
      description: `What kind of fact it is: 1 to 64 of a-z 0-9 _ . -; ${DEFAULT_CATEGORY} when left out. Not ${RESERVED_CATEGORIES.slice(0, -1).join(", ")} or ${RESERVED_CATEGORIES.at(-1)}.`,
    },
    tags: {
      type: "array",
      maxItems: FACT_LIMITS.tags,
      items: { type: "string", minLength: 1, maxLength: FACT_LIMITS.tagBytes },
      description: "Other words it may be looked for by; at most 32, of 64 bytes each.",
    },
    supersedes: {
      type: "array",
      maxItems: HISTORY_LIMITS.superseded,
      items: { type: "string", minLength: 1 },
      description:
        "Keys of facts that no longer hold because of this one. They are retired: no search finds them, and this fact's history keeps" +
        " what they said. At most 9. Only what the user's words really replace.",
      examples: ["preferences/deploy-tool"],
    },
    ttl_seconds: {
      type: "integer",
      description:
        "How long to keep it: a whole number from 3600 (an hour) to 31536000 (a year). 0 or left out: 90 days.",
    },
  },
} as const;
