/** mem0 stores what a language model extracts. */
import { absent } from "../system.ts";

export const mem0 = absent({
  id: "mem0",
  title: "mem0",
  version: "3.3.1",
  settings: "https://docs.mem0.ai",
  note: "",
  absent:
    "It stores what a language model makes of a message, and this bench has none: with a stand-in it is not mem0.",
});
