/** `search`: ranked hits, as OpenClaw's memory_search gets them. */
import { type RecallQuery, searchReply, searchText } from "../../app/index.ts";
import type { CommandContext } from "../command-line.ts";
import { embedSearched } from "../embed-afterwards.ts";
import { EXIT_DONE } from "../exit-codes.ts";
import { present, voiceOf } from "../voice.ts";
import { withMemory } from "../with-memory.ts";

export async function searchCommand(context: CommandContext, query: RecallQuery): Promise<number> {
  const { output, options } = context;
  return withMemory(context, async (memory) => {
    // A gateway may answer from a partial index, because the next search sees more. A command runs only once, so it waits.
    await memory.warm(options.caller);
    const answer = await memory.search(options.caller, query);
    if (options.json) await output.json(searchReply(answer));
    else await present(context, searchText(answer, voiceOf(context)));
    await embedSearched(memory, options.caller);
    return EXIT_DONE;
  });
}
