/** If a memory's source does not support something, such as history, the page shows a sentence in that place. */
import { isHelmdeckError } from "../../engine/errors.ts";

/** The answer, or a sentence that says why there is none. */
export async function answerOrReason<Answer>(asked: Promise<Answer>): Promise<Answer | string> {
  try {
    return await asked;
  } catch (error) {
    if (isHelmdeckError(error, "method_not_allowed")) return error.message;
    throw error;
  }
}
