/** The "Agent memory" pages: what an agent kept, for a person who looks at it in a browser. */
export { makePages, type PagesOptions } from "./pages.ts";
export { type PlainPage, plainPage } from "./plain-page.ts";
export type { Changes, MemoryChoice, Viewer } from "./viewer.ts";
