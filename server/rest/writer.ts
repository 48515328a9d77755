/**
 * Who writes over REST.
 *
 * Who attacks: whoever has a token and would have its words pass for another's. So the way in and the token's subject are this
 * server's own word, whatever a request says. A host's plugin, which has the scope `record`, may say which agent and what kind of
 * session stand behind it; that is its own word, and stands behind the subject, never in its place.
 */
import { defined, type Writer, type WriterClaim } from "../../app/index.ts";
import { hasScope } from "../authentication.ts";
import { type Caller, RECORD_SCOPE } from "../caller.ts";

export function writerOf(caller: Caller, claim: WriterClaim | undefined): Writer {
  const { subject } = caller;
  const own = { surface: "rest", agent: subject };
  if (claim === undefined || !hasScope(caller, RECORD_SCOPE)) return own;
  const { agent = subject, session_kind: sessionKind } = claim;
  return { ...own, agent: agent === subject ? subject : `${subject}/${agent}`, ...defined({ sessionKind }) };
}
