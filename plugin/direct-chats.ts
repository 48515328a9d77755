/** Who may write to an agent directly, as OpenClaw's `channels` are set up. */
import { fieldsOf } from "./unchecked.ts";

/** Settings beside the channels. */
const NOT_CHANNELS: ReadonlySet<string> = new Set(["defaults", "modelByChannel"]);

/** Whether several people may write: in a channel that pairs or is open, or that lists more than one sender. */
export function admitsSeveral(channels: unknown): boolean {
  return Object.entries(fieldsOf(channels))
    .filter(([name]) => !NOT_CHANNELS.has(name))
    .flatMap(([, channel]) => accountsOf(fieldsOf(channel)))
    .some(admitsSeveralTo);
}

type Fields = ReturnType<typeof fieldsOf>;

/** Each account inherits the channel's settings. */
function accountsOf(channel: Fields): readonly Fields[] {
  const accounts = Object.values(fieldsOf(channel.accounts));
  return accounts.length === 0
    ? [channel]
    : accounts.map((account) => ({ ...channel, ...fieldsOf(account) }));
}

function admitsSeveralTo({ enabled, dm, dmPolicy, allowFrom }: Fields): boolean {
  const { policy, allowFrom: listed } = fieldsOf(dm);
  const admits = dmPolicy ?? policy;
  if (enabled === false || admits === "disabled") return false;
  if (admits !== "allowlist") return true;
  const senders = allowFrom ?? listed;
  return Array.isArray(senders) && (senders.length > 1 || senders.includes("*"));
}
