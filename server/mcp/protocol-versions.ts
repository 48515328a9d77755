/**
 * Requests in a version of MCP that is not spoken. From 2026-07-28 on, clients send no initialize: each request names its version.
 *
 * They get the error that this version prescribes, with the versions that are spoken. As all of these begin with initialize, clients that
 * know both ways then send it.
 */
import {
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCErrorResponse,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/sdk/types.js";
import { harmlessLine } from "../../engine/facts/hostile-text.ts";

const UNSUPPORTED_PROTOCOL_VERSION = -32_022;
const VERSION = "io.modelcontextprotocol/protocolVersion";
const SHOWN_CHARACTERS = 40;

export const BEGIN = `This server speaks MCP ${SUPPORTED_PROTOCOL_VERSIONS.join(", ")}: send initialize first.`;

/** The error for a message, or undefined if its version is spoken, or is still to be agreed on. */
export function refusedVersion(message: unknown, header?: string | null): JSONRPCErrorResponse | undefined {
  if (isInitializeRequest(message)) return undefined;
  const asked = isJSONRPCRequest(message) ? message : undefined;
  const version = asked?.params?._meta?.[VERSION] ?? header ?? undefined;
  const supported: readonly unknown[] = SUPPORTED_PROTOCOL_VERSIONS;
  if (version === undefined || supported.includes(version)) return undefined;
  const data = { supported, requested: harmlessLine(String(version).slice(0, SHOWN_CHARACTERS)) };
  const said = { message: `Unsupported protocol version. ${BEGIN}`, data };
  return {
    ...{ jsonrpc: "2.0", error: { code: UNSUPPORTED_PROTOCOL_VERSION, ...said } },
    ...(asked && { id: asked.id }),
  };
}
