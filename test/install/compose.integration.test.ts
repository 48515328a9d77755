/** docker-compose v1.29, the oldest supported version, accepts the compose files. */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";

const root = join(import.meta.dirname, "..", "..");
const BASE = "compose.embeddings.yml";
const HOST_PORT = "compose.embeddings.host-port.yml";
const ENGINE = "compose.engine.yml";
const GPU = "compose.embeddings.gpu.yml";

interface Service {
  readonly image?: string;
  readonly profiles?: readonly string[];
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly mem_limit?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

describe("docker-compose v1.29", () => {
  beforeEach((context) => {
    const { stdout } = spawnSync("docker-compose", ["version", "--short"], { encoding: "utf8" });
    context.skip(!stdout?.startsWith("1.29"), "docker-compose v1.29 is not installed");
  });

  it.each([[[BASE]], [[BASE, HOST_PORT]], [[BASE, HOST_PORT, GPU]]])("reads %j", (files) => {
    const service = servicesIn(files)["helmdeck-embeddings"];
    expect(service?.image).toBe("ollama/ollama:0.24.0");
    expect(service?.ports).toEqual(files.includes(HOST_PORT) ? ["127.0.0.1:11434:11434/tcp"] : undefined);
    expect(service?.read_only).toBe(true);
    expect(service?.mem_limit).toBe("2g");
  });

  it("accepts an image by digest, another model and another port", () => {
    const digest = `ollama/ollama:0.24.0@sha256:${"0".repeat(64)}`;
    const services = servicesIn([BASE, HOST_PORT], {
      HELMDECK_EMBEDDINGS_IMAGE: digest,
      EMBEDDING_MODEL: "mxbai-embed-large",
      HELMDECK_EMBEDDINGS_PORT: "21434",
    });
    expect(services["helmdeck-embeddings"]?.image).toBe(digest);
    expect(services["helmdeck-embeddings"]?.ports).toEqual(["127.0.0.1:21434:11434/tcp"]);
    expect(services["helmdeck-embeddings-init"]?.environment?.EMBEDDING_MODEL).toBe("mxbai-embed-large");
  });

  it("reads the file with one engine, and with a profile the file with two engines and a PostgreSQL without a published port", () => {
    const services = servicesIn([ENGINE]);
    const always = Object.keys(services).filter((name) => services[name]?.profiles === undefined);
    expect(always).toEqual(["helmdeck-memory"]);
    const {
      "helmdeck-engine-1": engine,
      "helmdeck-engine-2": other,
      "helmdeck-postgres": database,
    } = services;
    expect(engine).toMatchObject({ read_only: true, volumes: [], mem_limit: "512m" });
    expect({ ...other, container_name: "" }).toEqual({ ...engine, container_name: "" });
    expect(database).toMatchObject({ read_only: true, networks: { "helmdeck-store": null } });
    expect(database?.ports).toBeUndefined();
  });
});

function servicesIn(
  files: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Readonly<Record<string, Service>> {
  const named = files.flatMap((file) => ["-f", file]);
  const { PATH = "", HOME = "" } = process.env;
  const shown = execFileSync("docker-compose", ["-p", "helmdeck-embeddings", ...named, "config"], {
    cwd: root,
    env: { PATH, HOME, ...env },
    encoding: "utf8",
  });
  return parse(shown).services;
}
