/** Every page by its path below the base: its view, and its view for somebody who may see only counts. */
import { editForm, submitEdit } from "./forms/edit.ts";
import { forgetForm, submitForget } from "./forms/forget.ts";
import { rememberForm, submitRemember } from "./forms/remember.ts";
import { renewForm, submitRenew } from "./forms/renew.ts";
import { submitSupersede, supersedeForm } from "./forms/supersede.ts";
import { submitUndo, undoPreview } from "./forms/undo.ts";
import type { Submission, View } from "./page.ts";
import { callersPage } from "./views/callers.ts";
import { countsPage } from "./views/counts.ts";
import { expiringPage } from "./views/expiring.ts";
import { factPage } from "./views/fact.ts";
import { factsPage } from "./views/facts.ts";
import { growthPage } from "./views/growth.ts";
import { healthPage } from "./views/health.ts";
import { timelinePage } from "./views/timeline.ts";

export interface Route {
  readonly show: View;
  /** The view for somebody who may see only counts. May be the same view if that shows no more. */
  readonly counts: View;
}

const forFacts = countsPage("facts");

/** The first route is the base itself. */
export const VIEWS: Readonly<Record<string, Route>> = {
  "": { show: factsPage, counts: forFacts },
  "/facts": { show: factsPage, counts: forFacts },
  "/fact": { show: factPage, counts: forFacts },
  "/timeline": { show: timelinePage, counts: countsPage("timeline") },
  "/ending": { show: expiringPage, counts: countsPage("ending") },
  "/growth": { show: growthPage, counts: growthPage },
  "/health": { show: healthPage, counts: countsPage("health") },
  "/callers": { show: callersPage, counts: callersPage },
  "/edit": { show: editForm, counts: forFacts },
  "/renew": { show: renewForm, counts: forFacts },
  "/supersede": { show: supersedeForm, counts: forFacts },
  "/undo": { show: undoPreview, counts: forFacts },
  "/forget": { show: forgetForm, counts: forFacts },
  "/remember": { show: rememberForm, counts: forFacts },
};

/** Each throws `forbidden` if the pages are read-only. */
export const SUBMISSIONS: Readonly<Record<string, Submission>> = {
  "/edit": submitEdit,
  "/renew": submitRenew,
  "/supersede": submitSupersede,
  "/undo": submitUndo,
  "/forget": submitForget,
  "/remember": submitRemember,
};
