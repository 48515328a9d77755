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
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve; // it closes itself on an endless line
  });
  const ended = Promise.race([firstOf(stdin, "end", "close"), closed]);
  const aborted = signal.aborted ? undefined : once(signal, "abort");
  const gone = Promise.race([firstOf(stdout, "close", "finish"), aborted]);
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

function firstOf(stream: Readable | Writable, ...events: readonly string[]): Promise<unknown> {
  return Promise.race(events.map((event) => once(stream, event))).catch(() => {});
}
