/** Deletes the journal at the end of an uninstallation. */
import { EXIT, type StepDefinition } from "./step-definition.ts";

interface ForgetJournal {
  readonly kind: "forget-journal";
}

export const forgetJournal: StepDefinition<ForgetJournal> = {
  kind: "forget-journal",
  title: () => "delete the installer's record of what it changed",
  exitCode: EXIT.openclaw,
  run: async (_, { environment: { journal }, warn }) => {
    // If it was not restored exactly, a person may still want the copy for its comments.
    const isWanted = journal.entries.config?.existed === true;
    if (isWanted) warn(`The configuration from before the installation stays at ${journal.copyPath}.`);
    await journal.forget({ keepCopy: isWanted });
  },
};
