/** The names of our tools and chat commands. openclaw.plugin.json declares the same tools. */
export const STORE_TOOL = "helmdeck__memory_store";
export const HISTORY_TOOL = "helmdeck__memory_history";
export const FORGET_TOOL = "helmdeck__memory_forget";
export const PIN_TOOL = "helmdeck__memory_pin";

/** With their descriptions. */
export const CHAT_COMMANDS = {
  helmdeck: "Helmdeck memory: status, search, why",
  remember: "Remember something: /remember I always deploy via Konflux",
  undo: "Undo the last store of a fact: /undo with its key",
  forget: "Forget something: /forget with a key or a category",
  pin: "Keep a fact in every prompt, for a year: /pin with its key; again for another year",
  unpin: "Take a fact out of the prompts: /unpin with its key",
  memories: "List what is stored, or search it: /memories konflux",
} as const;

export type ChatCommand = keyof typeof CHAT_COMMANDS;
