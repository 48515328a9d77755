/** The compose files follow every hardening rule, and a deliberate violation shows that each rule is checked. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const root = join(import.meta.dirname, "..", "..");
const BASE = "compose.embeddings.yml";
const HOST_PORT = "compose.embeddings.host-port.yml";
const GPU = "compose.embeddings.gpu.yml";

interface Service {
  readonly [key: string]: unknown;
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly tmpfs?: readonly string[];
}

interface ComposeFile {
  readonly [key: string]: unknown;
  readonly services: Readonly<Record<string, Service>>;
}

/** The rules for a service of the base file. The tests below violate each of them. */
const RULES: Readonly<Record<string, (service: Service) => boolean>> = {
  "publishes no port": (service) => service.ports === undefined,
  "shares nothing of the host": (service) =>
    ["privileged", "network_mode", "pid", "ipc", "devices", "cap_add"].every(
      (key) => service[key] === undefined,
    ),
  "mounts named volumes only": (service) => (service.volumes ?? []).every((volume) => /^[a-z]/.test(volume)),
  "drops every capability": (service) => JSON.stringify(service.cap_drop) === '["ALL"]',
  "gains no privileges": (service) => JSON.stringify(service.security_opt) === '["no-new-privileges:true"]',
  "has a read-only root": (service) => service.read_only === true,
  "has a bounded /tmp": (service) =>
    service.tmpfs?.length === 1 && /^\/tmp:.*nosuid.*size=\d+m$/.test(service.tmpfs[0] ?? ""),
  "is bounded in memory": (service) => /^(\d+m|\$\{\w+:-\d+g\})$/.test(String(service.mem_limit)),
  "is bounded in processes": (service) => Number(service.pids_limit) > 0,
  "has bounded logs": (service) => JSON.stringify(service.logging)?.includes("max-size") === true,
  "uses no cloud": (service) => service.environment?.OLLAMA_NO_CLOUD === "1",
  "pins its image through one variable": (service) =>
    /^\$\{HELMDECK_EMBEDDINGS_IMAGE:-ollama\/ollama:\d+\.\d+\.\d+\}$/.test(service.image ?? ""),
};

const FAULTS: Readonly<Record<string, Partial<Service>>> = {
  "publishes no port": { ports: ["11434:11434"] },
  "shares nothing of the host": { network_mode: "host" },
  "mounts named volumes only": { volumes: ["/var/run/docker.sock:/var/run/docker.sock"] },
  "drops every capability": { cap_drop: ["NET_RAW"] },
  "gains no privileges": { security_opt: [] },
  "has a read-only root": { read_only: false },
  "has a bounded /tmp": { tmpfs: ["/tmp"] },
  "is bounded in memory": { mem_limit: undefined },
  "is bounded in processes": { pids_limit: -1 },
  "has bounded logs": { logging: { driver: "json-file" } },
  "uses no cloud": { environment: {} },
  "pins its image through one variable": { image: "ollama/ollama:latest" },
};

const services = Object.entries(read(BASE).services);

describe("compose.embeddings.yml", () => {
  it("defines the service and its one-shot helper, and each rule has a violation", () => {
    expect(services.map(([name]) => name)).toEqual(["helmdeck-embeddings", "helmdeck-embeddings-init"]);
    expect(Object.keys(FAULTS)).toEqual(Object.keys(RULES));
  });

  it.each(services.flatMap(([name, service]) => Object.keys(RULES).map((rule) => ({ name, service, rule }))))(
    "$name $rule",
    ({ service, rule }) => expect(broken(service)).not.toContain(rule),
  );

  it.each(Object.entries(FAULTS))("a violation of the rule '%s' is found", (rule, fault) => {
    for (const [, service] of services) expect(broken({ ...service, ...fault })).toEqual([rule]);
  });

  it("uses the external network baas-net and does not create it", () => {
    const file = read(BASE);
    expect(file.networks).toEqual({ "baas-net": { external: true } });
    for (const [, service] of services) expect(service.networks).toEqual(["baas-net"]);
  });

  it("keeps the model in memory and on a volume that has the same name in every project", () => {
    const [, service] = services[0] ?? [];
    expect(service?.environment?.OLLAMA_KEEP_ALIVE).toBe("-1");
    expect(service?.volumes).toEqual(["helmdeck-embeddings-models:/root/.ollama"]);
    expect(read(BASE).volumes).toEqual({
      "helmdeck-embeddings-models": { name: "helmdeck-embeddings-models" },
    });
  });

  it("checks without curl, which is not in the image, that the model embeds", () => {
    const [, service] = services[0] ?? [];
    const test = ["CMD", "bash", "-euc", expect.stringContaining("/api/embed")];
    expect(service?.healthcheck).toMatchObject({ test });
  });

  it("has no top-level name, which docker-compose v1.29 refuses", () => {
    for (const file of [BASE, HOST_PORT, GPU]) expect(Object.keys(read(file))).not.toContain("name");
  });
});

describe("the overlays", () => {
  it("publish a port on loopback only, and change nothing else", () => {
    const file = read(HOST_PORT);
    expect(file).toEqual({
      services: { "helmdeck-embeddings": { ports: [`127.0.0.1:\${HELMDECK_EMBEDDINGS_PORT:-11434}:11434`] } },
    });
  });

  it("give access to the GPUs, and change nothing else", () => {
    const devices = [{ driver: "nvidia", count: "all", capabilities: ["gpu"] }];
    expect(read(GPU)).toEqual({
      services: { "helmdeck-embeddings": { deploy: { resources: { reservations: { devices } } } } },
    });
  });
});

function broken(service: Service): readonly string[] {
  return Object.entries(RULES)
    .filter(([, holds]) => !holds(service))
    .map(([rule]) => rule);
}

function read(file: string): ComposeFile {
  return parse(readFileSync(join(root, file), "utf8"), { merge: true }) as ComposeFile;
}
