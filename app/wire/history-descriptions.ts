/** Descriptions of history and undo for models: small, since OpenClaw loads them too. */

export const HISTORY_DESCRIPTION =
  "What a fact held before, newest first. For questions such as what somebody used to prefer, or since when something is so. None" +
  " of it is current. At most ten values, also those of facts that it superseded.";

export const UNDO_DESCRIPTION =
  "Undo the last store that changed this fact: restores what it held before, and facts that it superseded. The undone" +
  " value is in the answer and is kept nowhere. Called again, it undoes the store before that.";
