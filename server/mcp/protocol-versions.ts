/**
 * Requests in a version of MCP that is not spoken. From 2026-07-28 on, clients send no initialize: each request names its version.
 *
 * They are told the versions that are spoken, in an error of the versions before. The newer versions' own error for this (-32022)
 * would tell a client that knows both that no initialize is understood here, and it would not try.
 */
import {
  isInitializeRequest,
  isJSONRPCRequest,
  type RequestId,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/sdk/types.js";

const REFUSED = -32_000;
const VERSION = "io.modelcontextprotocol/protocolVersion";

/** The error for a message, or undefined if its version is spoken, or is still to be agreed on. */
export function refusedVersion(message: unknown, header: string | null = null) {
  if (isInitializeRequest(message)) return undefined;
  const isRequest = isJSONRPCRequest(message);
  const version = (isRequest ? message.params?._meta?.[VERSION] : undefined) ?? header;
  const isSpoken = version === null || SUPPORTED_PROTOCOL_VERSIONS.some((spoken) => spoken === version);
  return isSpoken
    ? undefined
    : errorNaming("Unsupported protocol version.", isRequest ? { id: message.id } : {});
}

export function errorNaming(problem: string, asked: { readonly id?: RequestId } = {}) {
  const message = `${problem} This server speaks MCP ${SUPPORTED_PROTOCOL_VERSIONS.join(", ")}: send initialize first.`;
  const error = { code: REFUSED, message, data: { supported: SUPPORTED_PROTOCOL_VERSIONS } };
  return { jsonrpc: "2.0" as const, error, ...asked };
}
