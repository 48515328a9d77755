/** Stands in for polyfills that a dependency imports for browsers: every Node that we run on has `fetch`. */
export {};
