/** Tracks a client's unanswered requests at the transport, so that accepted requests finish before it closes. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from "@modelcontextprotocol/sdk/types.js";

export class PendingRequests {
  readonly #ids = new Set<RequestId>();
  #waiting: (() => void)[] = [];

  /** Call before connecting the transport to a server, which preserves these handlers. */
  constructor(transport: Transport, onCancelled: (id: RequestId) => void = () => {}) {
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      await send(message, options).finally(() => {
        if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) return;
        if (message.id !== undefined) this.#settle(message.id);
      });
    };
    transport.onmessage = (message) => {
      if (isJSONRPCRequest(message)) this.#ids.add(message.id);
      const cancelled = cancelledId(message);
      if (cancelled === undefined || !this.#ids.has(cancelled)) return;
      // A cancelled request gets no answer.
      this.#settle(cancelled);
      onCancelled(cancelled);
    };
  }

  get count(): number {
    return this.#ids.size;
  }

  /** Resolves when every received request has been answered or cancelled. */
  settled(): Promise<void> {
    if (this.#ids.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #settle(id: RequestId): void {
    this.#ids.delete(id);
    if (this.#ids.size > 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

function cancelledId(message: JSONRPCMessage): RequestId | undefined {
  if (!isJSONRPCNotification(message) || message.method !== "notifications/cancelled") return undefined;
  const id: unknown = message.params?.requestId;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
