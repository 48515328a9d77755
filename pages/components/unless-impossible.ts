/** What the source of a memory cannot do, such as looking back: said where the page would show it, and the rest of the page stays. */
import { isHelmdeckError } from "../../app/index.ts";

/** The answer, or the sentence that says why there can be none. */
export async function unlessImpossible<Answer>(asked: Promise<Answer>): Promise<Answer | string> {
  try {
    return await asked;
  } catch (error) {
    if (isHelmdeckError(error, "method_not_allowed")) return error.message;
    throw error;
  }
}
