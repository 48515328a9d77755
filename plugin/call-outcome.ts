/** The outcome of a finished tool call, from the host's event. No part of the result is returned. */
import { jsonOf } from "../engine/json.ts";
import { fieldOf } from "./unchecked.ts";

const CODE_WITHIN_CHARS = 128;
const BODY_MAX_CHARS = 10_000;
const UNKNOWN_FAILURE = "error";
const ERROR_CODE = /^[a-z][a-z0-9_]{1,63}$/;

export function hasFailed(event: unknown): boolean {
  const result = fieldOf(event, "result");
  const details = fieldOf(result, "details");
  const [status, exitCode] = [fieldOf(details, "status"), fieldOf(details, "exitCode")];
  return (
    fieldOf(event, "error") !== undefined ||
    status === "error" ||
    status === "failed" ||
    fieldOf(result, "isError") === true ||
    (typeof exitCode === "number" && exitCode !== 0)
  );
}

/** "ok", helmdeck's error code, or "error". */
export function outcomeOf(event: unknown): string {
  if (!hasFailed(event)) return "ok";
  const result = fieldOf(event, "result");
  const details = fieldOf(result, "details");
  const candidates = [
    codeIn(fieldOf(details, "structuredContent")),
    codeIn(parsed(firstText(result))),
    codeIn(parsed(fieldOf(event, "error"))),
    leadingCode(fieldOf(event, "error")),
    leadingCode(firstText(result)),
  ];
  return candidates.find((code) => code !== undefined) ?? UNKNOWN_FAILURE;
}

/** helmdeck's error body is `{"error": "<code>", "message": "<text>"}`. */
function codeIn(body: unknown): string | undefined {
  return [fieldOf(body, "error"), fieldOf(body, "code")].find(isCode);
}

/** `<code>: <text>`, helmdeck's form for a failure without a body. A single word could be anything. */
function leadingCode(text: unknown): string | undefined {
  const word = typeof text === "string" ? text.slice(0, CODE_WITHIN_CHARS).split(":", 1)[0] : undefined;
  return isCode(word) && word.includes("_") ? word : undefined;
}

function isCode(value: unknown): value is string {
  return typeof value === "string" && ERROR_CODE.test(value);
}

function firstText(result: unknown): unknown {
  const content = fieldOf(result, "content");
  return Array.isArray(content) ? fieldOf(content[0], "text") : undefined;
}

function parsed(text: unknown): unknown {
  if (typeof text !== "string" || text.length > BODY_MAX_CHARS || !text.trimStart().startsWith("{"))
    return undefined;
  return jsonOf(text);
}
