/** The process seam: what a dev-loop process may ask of memory. */
export {};
