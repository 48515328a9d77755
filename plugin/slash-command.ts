/** The chat commands /helmdeck, /remember, /undo, /forget and /memories. Their code is loaded on first use. */
import type { ChatCommand, CommandParts } from "./chat-replies.ts";
import type { SlashCommand } from "./openclaw-api.ts";

const DESCRIPTIONS: Readonly<Record<ChatCommand, string>> = {
  helmdeck: "Helmdeck memory: status, search",
  remember: "Remember something: /remember I always deploy via Konflux",
  undo: "Undo the last store of a fact: /undo with its key",
  forget: "Forget something: /forget with a key or a category",
  memories: "List what is stored, or search it: /memories konflux",
};

export function makeSlashCommand(name: ChatCommand, parts: CommandParts): SlashCommand {
  return {
    name,
    description: DESCRIPTIONS[name],
    acceptsArgs: true,
    requireAuth: true,
    handler: async (context) => {
      const { replyTo } = await import("./on-demand.ts");
      return { text: await replyTo(name, context, parts) };
    },
  };
}
