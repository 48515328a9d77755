/** The end of an uninstallation: the journal itself goes. */
import { EXIT } from "../installer-exit-codes.ts";
import type { StepDefinition } from "./step-definition.ts";

interface ForgetJournal {
  readonly kind: "forget-journal";
}

export const forgetJournal: StepDefinition<ForgetJournal> = {
  kind: "forget-journal",
  title: () => "clear the journal: everything is undone",
  exitCode: EXIT.openclaw,
  run: async (_, { environment: { journal }, warn }) => {
    // Not put back byte for byte: then a person may still want it, for its comments.
    const isWanted = journal.entries.config?.existed === true;
    if (isWanted) warn(`The configuration from before the installation stays at ${journal.copyPath}.`);
    await journal.forget({ keepCopy: isWanted });
  },
};
