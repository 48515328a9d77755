/** The chat commands /helmdeck, /remember, /forget and /memories. What they answer is loaded when one is typed. */
import type { ChatCommand, CommandParts } from "./chat-replies.ts";
import type { SlashCommand } from "./openclaw-api.ts";

const DESCRIPTIONS: Readonly<Record<ChatCommand, string>> = {
  helmdeck: "Helmdeck memory: status, search",
  remember: "Have something remembered: /remember I always deploy via Konflux",
  forget: "Forget something: /forget and its key, or a category",
  memories: "What is remembered; with words after it, what they find",
};

export function makeSlashCommand(name: ChatCommand, parts: CommandParts): SlashCommand {
  return {
    name,
    description: DESCRIPTIONS[name],
    acceptsArgs: true,
    requireAuth: true,
    handler: async (context) => {
      const { replyTo } = await import("./seldom.ts");
      return { text: await replyTo(name, context, parts) };
    },
  };
}
