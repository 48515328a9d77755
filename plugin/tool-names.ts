/** Our tools' names; openclaw.plugin.json declares the same ones. */
export const STORE_TOOL = "helmdeck__memory_store";
export const HISTORY_TOOL = "helmdeck__memory_history";
export const FORGET_TOOL = "helmdeck__memory_forget";
