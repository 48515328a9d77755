/** `list`: facts by prefix and category, newest first. */
import { collectFacts, factsReply, type ListRequest, listText } from "../../app/index.ts";
import type { CommandContext } from "../command-line.ts";
import { EXIT_DONE } from "../exit-codes.ts";
import { present, voiceOf } from "../voice.ts";
import { withMemory } from "../with-memory.ts";

export async function listCommand(context: CommandContext, request: ListRequest): Promise<number> {
  const { output, options } = context;
  return withMemory(context, async (memory) => {
    const page = await collectFacts(memory, options.caller, request);
    if (options.json) await output.json(factsReply(page));
    else await present(context, await listText(memory, page, request, voiceOf(context)));
    return EXIT_DONE;
  });
}
