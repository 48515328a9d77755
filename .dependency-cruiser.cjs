// Which room may import which (docs/architecture.md). Imports point up the list, and only at a room's index.ts.
const rooms = {
  engine: [],
  recall: ["engine"],
  sidecar: ["engine/errors.ts"],
  app: ["engine", "recall", "sidecar"],
  server: ["app"],
  plugin: ["app"],
  seam: ["engine/reader.ts"],
  cli: ["app", "server"],
  install: ["app", "sidecar"],
};

for (const consumer of require("./scripts/seam-consumers.json")) rooms[consumer].push("seam");

/** A room's public file, or the one file that is named. */
const doorOf = (name) => `^${name.includes("/") ? name.replace(".", "\\.") : `${name}/index\\.ts`}$`;

const roomRule = ([room, allowed]) => ({
  name: `${room}-imports-only-its-own-floor`,
  severity: "error",
  from: { path: `^${room}/` },
  to: {
    path: "^(engine|recall|sidecar|app|server|plugin|seam|cli|install|test|bench|scripts)/",
    pathNot: [`^${room}/`, ...allowed.map(doorOf)],
  },
});

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...Object.entries(rooms).map(roomRule),
    {
      name: "no-circles",
      severity: "error",
      from: { path: "^(engine|recall|sidecar|app|server|plugin|seam|cli|install)/" },
      to: { circular: true },
    },
    {
      name: "engine-knows-no-surface",
      severity: "error",
      comment: "The engine never learns about OpenClaw, HTTP, MCP or a command line.",
      from: { path: "^(engine|recall)/" },
      to: { path: "node_modules/(openclaw|hono|commander|ollama|@modelcontextprotocol)/" },
    },
    {
      name: "only-the-plugin-knows-openclaw",
      severity: "error",
      from: { path: "^(engine|recall|sidecar|app|server|seam|cli|install)/" },
      to: { path: "node_modules/openclaw/" },
    },
    { name: "no-unresolved", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "no-dev-dependency-in-the-product",
      severity: "error",
      from: { path: "^(engine|recall|sidecar|app|server|seam|cli|install)/" },
      to: { dependencyTypes: ["npm-dev"], pathNot: "node_modules/@types/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
