/** Options and progress of resealing, for any back end. */

export interface ResealProgress {
  readonly done: number;
  readonly total: number;
}

export interface ResealOptions {
  readonly onProgress?: (progress: ResealProgress) => void;
  readonly signal?: AbortSignal;
}
