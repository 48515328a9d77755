/** The tab "Agent memory" in OpenClaw's Control UI: its sidebar entry and its route. The pages are loaded on request. */
import { PLUGIN_ID } from "./examine-plugin.ts";
import type { HostApi, HttpHandler } from "./openclaw-api.ts";
import type { PagesParts } from "./pages-viewer.ts";

/** The path of the route, and of the host's cookie for it. */
export const PAGES_PATH = `/plugins/${PLUGIN_ID}`;

/** Registers both parts or none: an older host may support neither, and nobody would find a page without a tab. */
export function registerPagesTab(api: HostApi, parts: PagesParts): void {
  const { registerHttpRoute } = api;
  const controls = api.session?.controls;
  if (registerHttpRoute === undefined || controls?.registerControlUiDescriptor === undefined) return;
  let handler: Promise<HttpHandler> | undefined;
  registerHttpRoute({
    path: PAGES_PATH,
    auth: "gateway",
    match: "prefix",
    handler: async (request, response) => {
      handler ??= import("./pages-handler.ts").then(({ makePagesHandler }) =>
        makePagesHandler(PAGES_PATH, parts),
      );
      return (await handler)(request, response);
    },
  });
  controls.registerControlUiDescriptor({
    surface: "tab",
    id: "agent-memory",
    label: "Agent memory",
    description: "What your agents remember: search it, see its origin and when it expires.",
    icon: "brain",
    group: "agent",
    slug: "agent-memory",
    path: PAGES_PATH,
    requiredScopes: ["operator.read"],
  });
}
