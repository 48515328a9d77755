/** Replaces browser polyfills that a dependency imports: every supported Node has `fetch`. */
export {};
