/** What a gateway needs seldom: loaded when it does, so that every process of OpenClaw's reads less. */

export { forgetPreview } from "../app/index.ts";
export { replyTo } from "./chat-replies.ts";
export { answersInTime, hostFindings } from "./examine-plugin.ts";
export { historyAnswer } from "./history-answer.ts";
export { decideForget } from "./wide-forget.ts";
