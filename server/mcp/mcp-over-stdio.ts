/** MCP over the process's standard streams: one caller, until the end of input. */
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { ServerContext } from "../../packs/server-context.ts";
import type { Caller } from "../caller.ts";
import { createMcpServer } from "./mcp-server.ts";
import { type McpServiceOptions, makeMcpService } from "./mcp-service.ts";
import { PendingRequests } from "./pending-requests.ts";
import { refusedVersion } from "./protocol-versions.ts";

export interface StdioOptions extends Omit<McpServiceOptions, "isForOperator"> {
  readonly stdin: Readable;
  /** Receives only protocol messages. */
  readonly stdout: Writable;
  /** Ends at once, and cancels running tools. */
  readonly signal: AbortSignal;
  /** Called for input that is not a protocol message, without the input itself. */
  readonly onNonsense?: () => void;
}

/** Resolves when the client has closed our input and has its answers, has disconnected, or the signal fired. Does not close the server context. */
export async function serveMcpOverStdio(
  serverContext: ServerContext,
  caller: Caller,
  options: StdioOptions,
): Promise<void> {
  const { stdin, stdout, signal, onNonsense = () => {} } = options;
  const service = makeMcpService(serverContext, { ...options, isForOperator: true });
  const transport = new VersionedTransport(stdin, stdout);
  const outstanding = new PendingRequests(transport);
  const server = createMcpServer(service, caller);
  const ended = Promise.race([endOf(stdin), closed(transport)]);
  const gone = Promise.race([goneFrom(stdout), aborted(signal)]);
  server.onerror = onNonsense;
  try {
    await server.connect(transport);
    await Promise.race([ended, gone]);
    await Promise.race([outstanding.settled(), gone]);
  } finally {
    await server.close();
    service.watch.close();
  }
}

/** Answers requests in versions that are not spoken itself: the server would perform those that earlier versions have too. */
class VersionedTransport extends StdioServerTransport {
  override async start(): Promise<void> {
    const receive = this.onmessage;
    this.onmessage = (message) => {
      const unspoken = refusedVersion(message);
      if (unspoken === undefined) receive?.(message);
      else void this.send(unspoken);
    };
    await super.start();
  }
}

function endOf(stdin: Readable): Promise<unknown> {
  return Promise.race([once(stdin, "end"), once(stdin, "close")]).catch(() => {});
}

/** The transport itself closes on an endless line. */
function closed(transport: StdioServerTransport): Promise<void> {
  return new Promise((resolve) => {
    transport.onclose = resolve;
  });
}

function goneFrom(stdout: Writable): Promise<unknown> {
  return Promise.race([once(stdout, "close"), once(stdout, "finish")]).catch(() => {});
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return signal.aborted ? Promise.resolve() : once(signal, "abort");
}
