/** The "Agent memory" pages: what an agent kept, for a person who looks at it in a browser. */
export { typedText } from "./components/typed-text.ts";
export { makePages } from "./pages.ts";
export { plainPage } from "./plain-page.ts";
export type { Viewer } from "./viewer.ts";
