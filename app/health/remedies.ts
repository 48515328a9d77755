/** What to do about each failure, for people; docs/errors.md says the same at more length. */
import type { ErrorCode } from "../../engine/index.ts";

const REMEDIES: Readonly<Record<ErrorCode, string>> = {
  invalid_input: "Correct what the message names.",
  secret_refused: "Keep the credential in a password manager or a secret store.",
  key_malformed: "Put the key from your backup in its place; the data is untouched.",
  key_missing: "Restore the key file from your backup, or set HELMDECK_MEMORY_KEY.",
  key_wrong:
    "Find the key that belongs to this database; see whether an environment variable overrides the key file.",
  key_unreadable: "Correct the key file's owner and mode: chmod 600.",
  store_not_ours: "Check the path of the database; the file there was not touched.",
  store_newer: "Upgrade this program: a newer version wrote the database.",
  store_corrupt:
    "Stop every process that uses the database, move it aside with its -wal and -shm, and put a backup in its place, or what `helmdeck-memory repair` can still read of it.",
  store_locked: "See which process has the database open, and try again.",
  store_full: "Free some space on the disk.",
  quota_exceeded:
    "Forget what is no longer needed, or raise HELMDECK_MEMORY_MAX_ENTRIES or HELMDECK_MEMORY_MAX_MIB.",
  store_readonly: "Make the database and its folder writable for this account.",
  store_replaced:
    "Nothing, where a backup was put in its place: memory opens it anew. Put it back if it was moved by mistake.",
  store_moved: "Use the memory where it was moved to, or bring it back with `helmdeck-memory move`.",
  store_unavailable: "Check that the folder of the database is there and can be read.",
  entry_unreadable: "Store that fact again, or restore a backup; other entries are unaffected.",
  not_found: "List what is there: keys are exact.",
  memory_unavailable: "Restart the gateway; if it stays, report the message.",
  engine_unavailable:
    "See whether helmdeck-memory serve runs there, and whether address and certificate are right.",
  deadline_exceeded: "Try again; if it stays, see whether the machine is overloaded.",
  identity_refused: "Open this context in the plugin's configuration, if that is what you want.",
  missing_bearer: "Make a token with helmdeck-memory token, and send it.",
  invalid_token: "Make a new token with this server's secret.",
  forbidden: "Ask as a caller who may.",
  rate_limited: "Wait, and try again.",
  too_large: "Send less at once; the message names the limit.",
  method_not_allowed:
    "Use a method that the Allow header names; of a memory that a helmdeck keeps, do it another way.",
  unsupported_media_type: "Send JSON.",
  pack_failed: "Correct what the message names.",
  invalid_output: "Report it to the author of the pack.",
  session_unavailable: "Wait for other runs to end; see disk space and permissions.",
  artifact_refused: "Make fewer or smaller files.",
  upstream_failed: "Try again later; see whether that service is up.",
  embeddings_unavailable:
    "See whether the embedding service is up and its address right; search goes on by keywords.",
  embeddings_out_of_memory:
    "Give the embedding service more memory (its container's limit counts), or use a smaller model; search goes on by keywords.",
  model_missing: "Pull the model on the embedding service, or correct its name and tag.",
  dimension_mismatch: "Put the former model back, or let memory be embedded anew with this one.",
  cancelled: "Run it again.",
  active_plan_corrupt: "Write the name of a plan that is there into the marker, or delete it.",
  runtime_unsupported: "Use Node 24.16 or later.",
  internal: "Report the message and what you did.",
};

export function remedyFor(code: ErrorCode): string {
  return REMEDIES[code];
}
