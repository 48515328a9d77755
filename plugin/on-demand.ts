/** Code that a gateway rarely needs, loaded on demand so that every OpenClaw process starts with less. */

export { forgetPreview } from "../app/presenters/forget-texts.ts";
export { notesHolding } from "../app/traces/count-notes.ts";
export { findModel } from "../model/artefact.ts";
export { decidePin } from "./agent-pin.ts";
export { captureAtEnd } from "./capture-hook.ts";
export { replyTo } from "./chat-replies.ts";
export { answersInTime, hostFindings } from "./examine-plugin.ts";
export { historyAnswer } from "./history-answer.ts";
export { lookAtTurn } from "./look-at-turn.ts";
export { decideForget } from "./wide-forget.ts";
