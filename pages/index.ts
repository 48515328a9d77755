/** The "Agent memory" pages: an agent's memory in a browser. */
export { typedText } from "./components/typed-text.ts";
export { makePages } from "./pages.ts";
export { plainPage } from "./plain-page.ts";
export type { Viewer } from "./viewer.ts";
