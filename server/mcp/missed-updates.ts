/** Keeps resource updates while the client has no event stream open, and sends them when it opens one. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type JSONRPCMessage,
  type ResourceUpdatedNotification,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

export class MissedUpdates {
  readonly #send: Transport["send"];
  /** By URI, so there is at most one per resource. */
  readonly #missed = new Map<string, JSONRPCMessage>();
  #isStreaming = false;

  /** The transport itself drops messages if no stream is open. */
  constructor(transport: Transport) {
    this.#send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      const update = this.#isStreaming ? undefined : updateIn(message);
      if (update === undefined) await this.#send(message, options);
      else this.#missed.set(update.params.uri, message);
    };
  }

  async streamOpened(): Promise<void> {
    this.#isStreaming = true;
    const missed = [...this.#missed.values()];
    this.#missed.clear();
    for (const message of missed) await this.#send(message);
  }

  streamClosed(): void {
    this.#isStreaming = false;
  }
}

function updateIn(message: JSONRPCMessage): ResourceUpdatedNotification | undefined {
  return ResourceUpdatedNotificationSchema.safeParse(message).data;
}
