/** A Telegram that hands its messages to a bot: the part of its Bot API that OpenClaw's channel needs in order to start and to answer. */
import { createServer, type ServerResponse } from "node:http";
import type { JsonObject } from "../../scripts/openclaw-host/openclaw-host.ts";
import { listen, sendJson } from "./stand-in-model.ts";

const CHAT = { id: 4713, type: "private", first_name: "Ada" };
const BOT = { id: 99, is_bot: true, first_name: "Bot", username: "stand_in_bot" };
const REPLIES: Readonly<Record<string, unknown>> = {
  getMe: BOT,
  getWebhookInfo: { url: "" },
  getMyCommands: [],
  getChat: CHAT,
};

export interface StandInTelegram {
  /** The channel's configuration in OpenClaw. */
  readonly channel: JsonObject;
  /** Sends a message of Ada's, with more of its fields in Telegram's API. */
  say(text: string, more?: object): void;
  close(): Promise<void>;
}

export async function startStandInTelegram(): Promise<StandInTelegram> {
  const updates: object[] = [];
  let waiting: ServerResponse | undefined;
  const send = (response: ServerResponse, result: unknown) => sendJson(response, { ok: true, result });
  const server = createServer((request, response) => {
    const method = /\w+(?=$|\?)/.exec(request.url ?? "")?.[0] ?? "";
    request.resume();
    if (method !== "getUpdates") send(response, REPLIES[method] ?? { message_id: 1, date: 1, chat: CHAT });
    else if (updates.length > 0) send(response, updates.splice(0));
    else waiting = response;
  });
  const port = await listen(server);
  let id = 0;
  return {
    channel: {
      enabled: true,
      botToken: `1:${"A".repeat(35)}`,
      apiRoot: `http://127.0.0.1:${port}`,
      dmPolicy: "open",
      allowFrom: ["*"],
    },
    say(text, more = {}) {
      id += 1;
      const message = {
        message_id: id,
        date: Math.floor(Date.now() / 1000),
        chat: CHAT,
        from: { ...CHAT, is_bot: false },
      };
      updates.push({ update_id: id, message: { ...message, text, ...more } });
      if (waiting !== undefined) send(waiting, updates.splice(0));
      waiting = undefined;
    },
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
