/** The command `helmdeck-here`: the process seam's three queries under their established names. */
import type { CommandLine } from "../commands/command-line.ts";
import { declareOfferSaveHere, declareRecallHere, declareStatePath } from "./declarations/declare-here.ts";
import { OUR_OPTIONS } from "./shared-options.ts";

export const HELMDECK_HERE: CommandLine = {
  name: "helmdeck-here",
  description:
    "Tell scripts and coding tools what memory knows about the project in this folder. Only reads. If there is no memory, the answer is empty, stderr says why, and the exit code is 0.",
  ...OUR_OPTIONS,
  commands: [declareRecallHere, declareStatePath, declareOfferSaveHere],
  examples: [
    "helmdeck-here recall-here --phase plan",
    "helmdeck-here state-path plan",
    "helmdeck-here offer-save-here --kind decision --slug one-file-database < decision.md",
  ],
};
