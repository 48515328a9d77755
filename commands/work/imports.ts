/** `imports`: lists imports that can be undone. */

import type { KnownImport } from "../../app/memory.ts";
import { importCounts } from "../../app/presenters/forget-texts.ts";
import type { Presented, Voice } from "../../app/presenters/presented.ts";
import type { CommandContext } from "../command-line.ts";
import { EXIT_DONE } from "../exit-codes.ts";
import { present, voiceOf } from "../voice.ts";
import { refuseRemote, withMemory } from "../with-memory.ts";

export async function importsCommand(context: CommandContext): Promise<number> {
  await refuseRemote(context, "imports --caller SUBJECT");
  const imports = await withMemory(context, (memory) => memory.imports(context.options.caller));
  if (context.options.json) await context.output.json({ imports });
  else await present(context, importsText(imports, voiceOf(context)));
  return EXIT_DONE;
}

function importsText(imports: readonly KnownImport[], { command }: Voice): Presented {
  return {
    answer: imports.map((known) => `import:${known.id}  ${importCounts(known)}`),
    notes: [
      imports.length === 0
        ? `No import is left in memory. ${command} import --help lists what can be imported.`
        : `${command} forget import:<id> undoes one import.`,
    ],
  };
}
