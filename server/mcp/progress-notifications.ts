/** Progress notifications for a request that asked for them. */
import type { ProgressNotification } from "@modelcontextprotocol/sdk/types.js";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";

type Send = (notification: ProgressNotification) => Promise<void>;

/** Does nothing without a token. The protocol requires increasing numbers, so a step without progress is not sent. */
export function progressSender(
  progressToken: string | number | undefined,
  send: Send,
): (done: number, message?: string) => void {
  if (progressToken === undefined) return () => {};
  let furthest = -1;
  return (done, message) => {
    const progress = Math.min(done, 1);
    if (!(progress > furthest)) return;
    furthest = progress;
    const said = message === undefined ? {} : { message: harmlessLine(message) };
    const params = { progressToken, progress, total: 1, ...said };
    void send({ method: "notifications/progress", params }).catch(() => {}); // the client has gone
  };
}
