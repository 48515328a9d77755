/** The stand-in's answers: JSON, JSON lines, and both forms of errors. */
import type { ServerResponse } from "node:http";

/** Becomes a number too large for a double: JSON has no infinity, but parsers read such a number as one. */
export const INFINITE = "\u0000infinite";

export function sendJson(response: ServerResponse, status: number, value: unknown): ServerResponse {
  const text = JSON.stringify(value).replaceAll(JSON.stringify(INFINITE), "1e999");
  return response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(text);
}

export function sendError(response: ServerResponse, status: number, error: string): ServerResponse {
  return sendJson(response, status, { error });
}

export function sendOpenAiError(response: ServerResponse, status: number, message: string): ServerResponse {
  return sendJson(response, status, {
    error: { message, type: "invalid_request_error", param: null, code: null },
  });
}

export function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
