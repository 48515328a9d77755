/** The words and colours of the command `helmdeck-memory`. */
import type { Presented, Voice } from "../app/index.ts";
import type { CommandContext } from "./command-context.ts";

export function voiceOf({ shell, output, options }: CommandContext): Voice {
  return {
    command: "helmdeck-memory",
    storing: "Store one: helmdeck-memory store KEY VALUE",
    caller: options.caller,
    now: shell.now(),
    style: (format, text) => output.styled(format, text),
  };
}

export async function present({ output }: CommandContext, { answer, notes }: Presented): Promise<void> {
  for (const line of answer) await output.line(line);
  for (const note of notes) await output.note(note);
}
