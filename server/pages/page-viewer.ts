/** Viewers of the pages: a caller sees only their own memory; an operator also sees who has entries, and how many. */
import type { ServerContext } from "../../packs/server-context.ts";
import type { Viewer } from "../../pages/viewer.ts";
import { hasScope } from "../authentication.ts";
import { ADMIN_SCOPE, type PageSession } from "../caller.ts";

export const SIGN_OUT_PATH = "/sign-out";
/** Doctor's result is reused for this long, because doctor opens every row of every caller. */
const DOCTOR_HOLDS_MS = 10_000;

export function viewersOver({ memory }: ServerContext, now: () => number): (session: PageSession) => Viewer {
  const examine = heldFor(DOCTOR_HOLDS_MS, now, () => memory.doctor());
  return ({ caller, formToken }) => ({
    memory,
    subject: caller.subject,
    choices: [],
    sees: "values",
    seesCallers: hasScope(caller, ADMIN_SCOPE),
    // Without sign-in the server listens on loopback only, so the viewer is on its machine.
    ...((!caller.authenticated || hasScope(caller, ADMIN_SCOPE)) && { doctor: examine }),
    changes: {
      kind: "forms",
      formToken,
      writer: { surface: "pages", agent: caller.subject },
      ...(caller.authenticated && { signOutPath: SIGN_OUT_PATH }),
    },
  });
}

/** Concurrent requests share one answer; a failure is not cached. */
function heldFor<Answer>(
  milliseconds: number,
  now: () => number,
  work: () => Promise<Answer>,
): () => Promise<Answer> {
  let held: { readonly answer: Promise<Answer>; readonly until: number } | undefined;
  return () => {
    if (held !== undefined && now() < held.until) return held.answer;
    const answer = work();
    held = { answer, until: now() + milliseconds };
    answer.catch(() => {
      held = undefined;
    });
    return answer;
  };
}
