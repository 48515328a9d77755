/** How far sealing anew has come, and who wants to know, whatever keeps the rows. */

export interface ResealProgress {
  readonly done: number;
  readonly total: number;
}

export interface SealAnewOptions {
  readonly onProgress?: (progress: ResealProgress) => void;
  readonly signal?: AbortSignal;
}
