/** A Telegram that hands its messages to a bot: the part of its Bot API that OpenClaw's channel needs in order to start and to answer. */
import { createServer, type ServerResponse } from "node:http";
import type { JsonObject } from "../../scripts/openclaw-host/openclaw-host.ts";
import { listen, sendJson, textOfBody } from "./stand-in-model.ts";

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
  const updates: { readonly update_id: number; readonly message: object }[] = [];
  let waiting: { readonly response: ServerResponse; readonly offset: number } | undefined;
  const send = (response: ServerResponse, result: unknown) => sendJson(response, { ok: true, result });
  /** Updates come until a later request confirms them by its offset, since a request may have been given up. */
  const hand = () => {
    const news = updates.filter(
      ({ update_id }) => update_id >= (waiting?.offset ?? Number.POSITIVE_INFINITY),
    );
    if (waiting === undefined || news.length === 0) return;
    send(waiting.response, news);
    waiting = undefined;
  };
  const server = createServer(async (request, response) => {
    const method = /\w+(?=$|\?)/.exec(request.url ?? "")?.[0] ?? "";
    const asked = `${request.url} ${await textOfBody(request)}`;
    if (method !== "getUpdates")
      return send(response, REPLIES[method] ?? { message_id: 1, date: 1, chat: CHAT });
    waiting = { response, offset: Number(/offset"?[:=](\d+)/.exec(asked)?.[1] ?? 0) };
    hand();
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
      hand();
    },
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
