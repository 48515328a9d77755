// Which module may import which (docs/architecture.md). A module may import only modules above it, and only their index.ts.
const modules = {
  engine: [],
  recall: ["engine"],
  sidecar: ["engine/basics.ts"],
  app: ["engine", "engine/basics.ts", "engine/moving.ts", "engine/postgres.ts", "recall", "sidecar"],
  packs: ["engine", "app"],
  seam: ["engine/reader.ts"],
  pages: ["app", "app/basics.ts"],
  server: ["app", "packs", "pages"],
  commands: ["app", "app/basics.ts", "app/import-formats.ts"],
  plugin: ["app", "commands", "pages"],
  cli: ["app", "app/basics.ts", "app/moving.ts", "app/postgres.ts", "commands", "packs", "server"],
  install: ["app", "sidecar"],
};
const MODULES = `(${Object.keys(modules).join("|")})`;

for (const consumer of require("./scripts/seam-consumers.json")) modules[consumer].push("seam");

/** A module's index.ts, or the named file. */
const entryPointOf = (name) => `^${name.includes("/") ? name.replace(".", "\\.") : `${name}/index\\.ts`}$`;

const moduleRule = ([module, allowed]) => ({
  name: `${module}-imports-only-what-it-may`,
  severity: "error",
  from: { path: `^${module}/` },
  to: {
    path: `^(${Object.keys(modules).join("|")}|test|bench|scripts)/`,
    pathNot: [`^${module}/`, ...allowed.map(entryPointOf)],
  },
});

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...Object.entries(modules).map(moduleRule),
    {
      name: "no-cycles",
      severity: "error",
      from: { path: `^${MODULES}/` },
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
      from: { path: `^${MODULES}/`, pathNot: "^plugin/" },
      to: { path: "node_modules/openclaw/" },
    },
    {
      name: "scripts-import-no-benchmark",
      severity: "error",
      from: { path: "^scripts/" },
      to: { path: "^(bench|test)/" },
    },
    { name: "no-unresolved", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "no-dev-dependency-in-the-product",
      severity: "error",
      from: { path: `^${MODULES}/`, pathNot: "^plugin/" },
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
