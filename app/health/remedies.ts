/** A remedy for each error code; docs/errors.md has longer ones. */
import type { ErrorCode } from "../../engine/errors.ts";

const REMEDIES: Readonly<Record<ErrorCode, string>> = {
  invalid_input: "Correct the field that the message names.",
  secret_refused: "Keep the credential in a password manager or a secret store.",
  key_malformed: "The data is untouched. It opens again with the key from your backup.",
  key_missing: "Restore the key file from your backup, or set HELMDECK_MEMORY_KEY.",
  key_wrong:
    "Find the key of this database, and put it in the key file's place. After a change of keys, the former one is beside the key file, as <key file>.former-<key id>.",
  key_unreadable: "Correct the key file's path, owner and mode (chmod 600).",
  store_not_ours: "Check the path of the database. The file was not changed.",
  store_newer: "Upgrade this program. A newer version wrote the database.",
  store_corrupt:
    "Stop every process that uses the database. Move it aside with its -wal and -shm. Then restore a backup, or save the readable rows with `helmdeck-memory repair`.",
  store_locked: "Find out which process has the database open, then try again.",
  store_full: "Free some space on the disk.",
  quota_exceeded:
    "Forget facts that you no longer need, or raise HELMDECK_MEMORY_MAX_ENTRIES or HELMDECK_MEMORY_MAX_MIB.",
  store_readonly: "Make the database and its folder writable for this account.",
  store_replaced:
    "If you restored a backup, do nothing: memory opens it by itself. If the file was moved by mistake, move it back.",
  store_moved: "Use the memory where it was moved to, or bring it back with `helmdeck-memory move`.",
  store_unavailable:
    "Check that the database's folder exists and can be read, or that its server can be reached.",
  entry_unreadable: "Store that fact again, or restore a backup. Other entries are not affected.",
  not_found: "List the facts to see their keys. Keys are exact.",
  changed_meanwhile: "Read it again, then repeat the change.",
  memory_unavailable:
    "Restart the gateway, or what else serves memory. If the problem persists, report this message.",
  engine_unavailable:
    "Check that helmdeck-memory serve is running there, and that address and certificate are right.",
  deadline_exceeded:
    "Try again, after a look whether a change was made. If the problem persists, check whether the machine is overloaded.",
  identity_refused: "If you want this, open the context in the plugin's configuration.",
  missing_bearer: "Make a token with helmdeck-memory token, and send it.",
  invalid_token: "Make a new token with this server's secret.",
  forbidden: "Use a token that has this right.",
  rate_limited: "Wait, then try again.",
  too_large: "Send less at once. The message names the limit.",
  method_not_allowed:
    "Use a method listed in the Allow header. If a helmdeck keeps the memory, use one of its own ways.",
  unsupported_media_type: "Send JSON.",
  pack_failed: "Correct the field that the message names.",
  invalid_output: "Report this to the pack's author.",
  session_unavailable: "Wait for other runs to end, and check disk space and permissions.",
  artifact_refused: "Make fewer or smaller files.",
  upstream_failed: "Try again later, and check that the service is up.",
  embeddings_unavailable:
    "Check that the embedding service is up and its address is right. Keyword search continues.",
  embeddings_out_of_memory:
    "Give the embedding service more memory (its container's limit counts), or use a smaller model. Keyword search continues.",
  model_missing: "Pull the model on the embedding service, or correct the name and tag.",
  model_changed: "Install the built-in model again: helmdeck-memory model install.",
  dimension_mismatch: "Restore the former model, or embed memory again with this one.",
  cancelled: "Run it again.",
  active_plan_corrupt: "Write the name of an existing plan into the marker, or delete the marker.",
  runtime_unsupported: "Use Node 24.16 or later.",
  internal: "Report this message and what you did.",
};

export function remedyFor(code: ErrorCode): string {
  return REMEDIES[code];
}
