/** Code that a gateway rarely needs, loaded on demand so that every OpenClaw process starts with less. */

export { requireArguments } from "../app/wire/arguments.ts";
export { findModel } from "../model/artefact.ts";
export { decidePin } from "./agent-pin.ts";
export { makeAuditHook } from "./audit-hook.ts";
export { captureAtEnd } from "./capture-hook.ts";
export { replyTo } from "./chat-replies.ts";
export { answersInTime, hostFindings } from "./examine-plugin.ts";
export { lookAtTurn } from "./look-at-turn.ts";
export { TOOL_CALLS } from "./tool-answers.ts";
export { decideForget } from "./wide-forget.ts";
