/** The texts and colours of a command line. */
import type { Presented, Voice } from "../app/presenters/presented.ts";
import type { CommandContext } from "./command-line.ts";

export function voiceOf({ shell, output, options, line }: CommandContext): Voice {
  return {
    command: line.name,
    storing: `Store one: ${line.name} store KEY VALUE`,
    caller: options.caller,
    now: shell.now(),
    style: (format, text) => output.styled(format, text),
  };
}

export async function present({ output }: CommandContext, { answer, notes }: Presented): Promise<void> {
  for (const line of answer) await output.line(line);
  for (const note of notes) await output.note(note);
}
