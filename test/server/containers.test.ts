/** The container is hardened: each rule is checked, and a deliberate violation of it is detected. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { MODEL_PACKAGE } from "../../model/artefact.ts";
import manifest from "../../package.json" with { type: "json" };

const composeText = readRoot("compose.engine.yml");
const dockerfile = readRoot("Dockerfile");

const composeSchema = z.strictObject({
  services: z.record(z.string(), z.looseObject({})),
  networks: z.record(z.string(), z.unknown()),
  volumes: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.strictObject({ file: z.string() })),
});

function readRoot(name: string): string {
  return readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
}

interface Expected {
  readonly user?: string;
  readonly volumes?: readonly string[];
  readonly networks: unknown;
  /** Required in its command. */
  readonly has?: string;
  /** Settings that are not secrets. */
  readonly shown?: readonly string[];
}

const ALONE: Expected = {
  volumes: ["helmdeck-memory-data:/data"],
  networks: ["baas-net"],
  has: "--require-memory",
};

/** The violations of a service, as texts. */
function breachesOf(service: Record<string, unknown>, expected = ALONE): string[] {
  const { user, volumes = [], networks, has = "", shown = [] } = expected;
  const rules: Readonly<Record<string, boolean>> = {
    "publishes a port": service.ports === undefined && service.network_mode === undefined,
    "may write its root": service.read_only === true,
    "has capabilities": JSON.stringify(service.cap_drop) === '["ALL"]' && service.cap_add === undefined,
    "may gain privileges":
      JSON.stringify(service.security_opt) === '["no-new-privileges:true"]' &&
      service.privileged === undefined,
    "has no memory limit": service.mem_limit !== undefined,
    "has no process limit": typeof service.pids_limit === "number",
    "runs as root": service.user === user,
    "mounts more than its data": JSON.stringify(service.volumes) === JSON.stringify(volumes),
    "is on another network": JSON.stringify(service.networks) === JSON.stringify(networks),
    "starts without memory": String(service.command).includes(has),
  };
  const environment = z.record(z.string(), z.string()).parse(service.environment);
  const secretsInEnvironment = Object.keys(environment).filter(
    (name) => !name.endsWith("_FILE") && !shown.includes(name),
  );
  return [
    ...Object.entries(rules).flatMap(([breach, kept]) => (kept ? [] : [breach])),
    ...secretsInEnvironment.map((name) => `shows ${name} in its environment`),
  ];
}

const SERVING: Expected = {
  networks: { "baas-net": { aliases: ["helmdeck-engines"] }, "helmdeck-store": {} },
  has: "serve",
  shown: ["HELMDECK_MEMORY_STORE"],
};
const MOVING: Expected = { networks: ["helmdeck-store"], has: "move" };

const PROFILE: Readonly<Record<string, Expected>> = {
  "helmdeck-engine-1": SERVING,
  "helmdeck-engine-2": SERVING,
  "helmdeck-prepare": MOVING,
  "helmdeck-move": { ...MOVING, volumes: ["helmdeck-memory-data:/data"] },
  "helmdeck-postgres": {
    user: "999:999",
    networks: ["helmdeck-store"],
    volumes: [
      "helmdeck-postgres-data:/var/lib/postgresql/data",
      "./install/postgres-roles.sh:/docker-entrypoint-initdb.d/helmdeck-roles.sh:ro",
    ],
    shown: ["POSTGRES_DB"],
  },
};

describe("compose.engine.yml", () => {
  const compose = composeSchema.parse(parse(composeText, { merge: true })); // strict, because docker-compose v1.29 refuses a top-level name
  const service = compose.services["helmdeck-memory"] ?? {};

  it("hardens the one service that starts without a profile", () => {
    const always = Object.entries(compose.services).filter(([, { profiles }]) => profiles === undefined);
    expect(always).toEqual([["helmdeck-memory", service]]);
    expect(breachesOf(service)).toEqual([]);
    expect(compose.networks).toEqual({
      "baas-net": { external: true },
      "helmdeck-store": { internal: true },
    });
  });

  it.each(Object.entries(PROFILE))("hardens %s of the profile engines", (name, expected) => {
    const found = compose.services[name] ?? {};
    expect(found.profiles).toEqual(["engines"]);
    expect(breachesOf(found, expected)).toEqual([]);
  });

  it("names each service of the profile above", () => {
    expect(Object.keys(compose.services).slice(1)).toEqual(Object.keys(PROFILE));
  });

  it("gives the table owner's password only to the preparing service, and no key to PostgreSQL", () => {
    const withSecret = (name: string) =>
      Object.entries(compose.services).flatMap(([service, { secrets }]) =>
        Array.isArray(secrets) && secrets.includes(name) ? [service] : [],
      );
    expect(withSecret("helmdeck_postgres_password")).toEqual([
      ...["helmdeck-prepare", "helmdeck-move", "helmdeck-postgres"],
    ]);
    expect(withSecret("helmdeck_memory_key")).not.toContain("helmdeck-postgres");
  });

  it.each([
    ["publishes a port", { ports: ["3848:3848"] }],
    ["publishes a port", { network_mode: "host" }],
    ["may write its root", { read_only: false }],
    ["has capabilities", { cap_add: ["NET_ADMIN"] }],
    ["has capabilities", { cap_drop: [] }],
    ["may gain privileges", { security_opt: [] }],
    ["may gain privileges", { privileged: true }],
    ["has no memory limit", { mem_limit: undefined }],
    ["has no process limit", { pids_limit: undefined }],
    ["runs as root", { user: "root" }],
    ["mounts more than its data", { volumes: ["/var/run/docker.sock:/var/run/docker.sock"] }],
    ["is on another network", { networks: ["default"] }],
    ["starts without memory", { command: ["serve"] }],
    ["shows HELMDECK_MEMORY_KEY in its environment", { environment: { HELMDECK_MEMORY_KEY: "x" } }],
  ])("reports a service that %s", (breach, planted) => {
    expect(breachesOf({ ...service, ...planted })).toEqual([breach]);
  });
});

describe("Dockerfile", () => {
  const stages = dockerfile.split(/^(?=FROM )/m).slice(1);
  const last = stages.at(-1) ?? "";

  it("builds with the Node version of the tests, in two stages", () => {
    const bases = stages.map((stage) => /^FROM (\S+)/.exec(stage)?.[1]);
    expect(bases).toEqual(Array(2).fill(`node:${manifest.devDependencies.node}-slim`));
  });

  it("runs as an unprivileged account, with a health check", () => {
    const instructions = [...last.matchAll(/^([A-Z]+) /gm)].map(([, name]) => name);
    expect(last).toMatch(/^USER node$/m);
    expect(instructions.indexOf("USER")).toBeGreaterThan(instructions.lastIndexOf("RUN"));
    expect(instructions).toContain("HEALTHCHECK");
    expect(last).toContain("fetch('http://127.0.0.1:3848/readyz')");
  });

  it("copies every folder that the build reads", () => {
    const [, folders = ""] = /"\{([\w,]+)\}\/\*\*/.exec(readRoot("scripts/build/build.ts")) ?? [];
    const allowed = readRoot(".dockerignore").split("\n");
    expect(folders.split(",").filter((name) => !allowed.includes(`!${name}`))).toEqual([]);
    expect(folders).toContain("engine");
  });

  it("has the built-in model where its programs look for a package", () => {
    expect(last).toContain(`/build/dist/model ./node_modules/${MODEL_PACKAGE}\n`);
    expect(last).toContain("/build/dist/model-process.mjs");
  });

  it("contains no secret: no build argument, no key in the environment, and only sources in its context", () => {
    expect(dockerfile).not.toMatch(/^ARG /m);
    expect(dockerfile).not.toMatch(/HELMDECK_(JWT_SECRET|MEMORY_KEY)/);
    const [first, ...allowed] = readRoot(".dockerignore")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    expect(first).toBe("*");
    for (const line of allowed) expect(line).toMatch(/^![\w./-]+$/);
    expect(allowed.join()).not.toMatch(/secret|\.git|node_modules|test/);
  });
});
