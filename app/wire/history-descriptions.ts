/** Descriptions of history and undo for models: small, since OpenClaw loads them too. */

export const HISTORY_DESCRIPTION =
  "What a fact held before, newest first. For questions such as what somebody used to prefer, or since when something is so. None" +
  " of it is current. At most ten values, also those of facts that it superseded.";

export const UNDO_DESCRIPTION =
  "Undo the last store that changed a fact: what it held before returns, and so do facts that it superseded. Only the" +
  " answer keeps the undone value. Called again, it undoes the store before that.";
