/** The chat commands /helmdeck, /remember, /undo, /forget, /pin, /unpin and /memories. Their code is loaded on first use. */
import type { CommandParts } from "./chat-replies.ts";
import type { SlashCommand } from "./openclaw-api.ts";
import { CHAT_COMMANDS, type ChatCommand } from "./tool-names.ts";

export function makeSlashCommand(name: ChatCommand, parts: CommandParts): SlashCommand {
  return {
    name,
    description: CHAT_COMMANDS[name],
    acceptsArgs: true,
    requireAuth: true,
    handler: async (context) => {
      const { replyTo } = await import("./on-demand.ts");
      return { text: await replyTo(name, context, parts) };
    },
  };
}
