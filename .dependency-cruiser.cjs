// Which module may import which (docs/architecture.md): folders, or single files.
/** What every module may use: errors, deadlines, limits, texts, and the contract of a store. No key, no SQL. */
const VOCABULARY = [
  "engine/(?!reader)[^/]+\\.ts",
  "engine/(audit|facts|projections)/",
  "engine/store/(memory-store|namespace|writer)\\.ts",
];
/** Programs choose the driver of their SQLite. */
const DRIVERS = "engine/store/sqlite/(better|node)-sqlite-driver\\.ts";
const PACKS = "packs/server-context\\.ts";
const modules = {
  engine: [],
  recall: ["engine/"],
  sidecar: ["engine/[^/]+\\.ts"],
  model: ["engine/[^/]+\\.ts"],
  app: ["engine/", "recall/", "sidecar/", "model/"],
  packs: [...VOCABULARY, "app/"],
  seam: ["engine/reader\\.ts"],
  pages: [...VOCABULARY, "app/"],
  server: [...VOCABULARY, "app/", PACKS, "packs/(wire\\.ts|.*-contract\\.ts)", "pages/"],
  commands: [...VOCABULARY, "app/", "model/(artefact|model-source)\\.ts"],
  plugin: [...VOCABULARY, DRIVERS, "app/", "commands/", "pages/[^/]+\\.ts", "model/"],
  cli: [...VOCABULARY, DRIVERS, "app/", "commands/", PACKS, "server/"],
  install: [...VOCABULARY, DRIVERS, "app/", "sidecar/", "model/(artefact|model-source)\\.ts"],
};
const MODULES = `(${Object.keys(modules).join("|")})`;

for (const consumer of require("./scripts/seam-consumers.json")) modules[consumer].push("seam/index\\.ts");

const moduleRule = ([module, allowed]) => ({
  name: `${module}-imports-only-what-it-may`,
  severity: "error",
  from: { path: `^${module}/` },
  to: {
    path: `^(${Object.keys(modules).join("|")}|test|bench|scripts)/`,
    pathNot: [`^${module}/`, ...allowed.map((path) => `^${path}`)],
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
