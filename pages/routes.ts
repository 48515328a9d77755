/** Every page by its path below the base. */
import type { Submission, View } from "./page.ts";
import { factPage } from "./views/fact.ts";
import { factsPage } from "./views/facts.ts";

export const VIEWS: Readonly<Record<string, View>> = {
  "": factsPage,
  "/facts": factsPage,
  "/fact": factPage,
};

export const SUBMISSIONS: Readonly<Record<string, Submission>> = {};
