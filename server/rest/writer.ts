/**
 * The writer that is recorded for changes over REST.
 *
 * Threat: a caller with a token whose writes pretend to come from somebody else. Defence: the server itself sets the surface
 * and the token's subject, whatever a request says. A host's plugin with the scope `record` may name its agent and the kind
 * of session; this is recorded as its claim, in addition to the subject and never instead of it.
 */

import type { WriterClaim } from "../../app/wire/writer-claim.ts";
import { defined } from "../../engine/defined.ts";
import type { Writer } from "../../engine/store/writer.ts";
import { hasScope } from "../authentication.ts";
import { type Caller, RECORD_SCOPE } from "../caller.ts";

export function writerOf(caller: Caller, claim: WriterClaim | undefined): Writer {
  const { subject } = caller;
  const own = { surface: "rest", agent: subject };
  if (claim === undefined || !hasScope(caller, RECORD_SCOPE)) return own;
  const { agent = subject, session_kind: sessionKind } = claim;
  return { ...own, agent: agent === subject ? subject : `${subject}/${agent}`, ...defined({ sessionKind }) };
}
