/** What a gateway needs seldom: loaded when it does, so that every process of OpenClaw's reads less. */

export { replyTo } from "./chat-replies.ts";
export { answersInTime, hostFindings } from "./examine-plugin.ts";
export { historyAnswer } from "./history-answer.ts";
