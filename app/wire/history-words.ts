/** What a model is told of history and undo: small, since OpenClaw loads it too. */

export const HISTORY_DESCRIPTION =
  "What a fact held before, newest first. For questions such as what somebody used to prefer, or since when something is so. None" +
  " of it holds now. At most ten values, also those of facts that it superseded.";

export const UNDO_DESCRIPTION =
  "Take back the last store that changed this fact: what it held before is there again, and so are facts that it superseded. What is" +
  " taken back is in the answer and is kept nowhere. Asked again, it takes back the store before that.";
