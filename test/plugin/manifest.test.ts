import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { EMBEDDING_PROVIDERS } from "../../app/embedding/embedding-settings.ts";
import { RECALL_MODES } from "../../engine/answer-limits.ts";
import { OLDEST_OPENCLAW } from "../../install/install-names.ts";
import { AGENT_TOOLS } from "../../plugin/agent-tools.ts";
import { CLOSED_CONTEXTS, parseConfig } from "../../plugin/config.ts";
import { PLUGIN_ID, TESTED_HOSTS } from "../../plugin/examine-plugin.ts";
import { KEY_CONFIG_PATH } from "../../plugin/resolve-secret.ts";
import { OLDEST_HOST, pluginPackage } from "../../scripts/build/plugin-package.ts";

const read = (file: string) => JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"));
const manifest = read("openclaw.plugin.json");
const rootPackage = read("package.json");
const fields = Object.keys(manifest.configSchema.properties);

describe("the manifest", () => {
  test("gives every field a label, help and a group, and describes no other field", () => {
    expect(Object.keys(manifest.uiHints).sort()).toEqual(fields.toSorted());
    for (const hint of Object.values<Record<string, unknown>>(manifest.uiHints)) {
      expect(hint).toMatchObject({
        label: expect.stringMatching(/\S/),
        help: expect.stringMatching(/.{40,}/),
      });
    }
    const grouped = manifest.configGroups.flatMap((group: { properties: string[] }) => group.properties);
    expect(grouped.toSorted()).toEqual(fields.toSorted());
  });

  test("lists exactly the fields that the plugin reads, with the same defaults", () => {
    const defaults = parseConfig({});
    expect(Object.keys(defaults).sort()).toEqual(fields.toSorted());
    expect(manifest.configSchema.additionalProperties).toBe(false);
    expect(manifest.configSchema).not.toHaveProperty("required");
    for (const [field, schema] of Object.entries<{ default?: unknown }>(manifest.configSchema.properties)) {
      if (schema.default === undefined) continue;
      const read: unknown = Reflect.get(defaults, field);
      expect(read instanceof Set ? [...read] : read).toEqual(schema.default);
    }
    expect(manifest.configSchema.properties.allow.items.enum).toEqual(CLOSED_CONTEXTS);
    expect(manifest.configSchema.properties.recall.enum).toEqual(RECALL_MODES);
  });

  test("declares the tools that are registered", () => {
    expect(manifest.contracts.tools).toEqual(Object.keys(AGENT_TOOLS));
    expect(Object.keys(manifest.toolMetadata)).toEqual(Object.keys(AGENT_TOOLS));
  });

  test("does not compete for OpenClaw's own memory", () => {
    expect(manifest).not.toHaveProperty("kind");
  });

  test("includes the database's folder in backups without its key, and has the key's field resolved", () => {
    expect(manifest.backupResources).toEqual([
      { disposition: "include", scope: "state", relativePath: "helmdeck-memory" },
      { disposition: "regenerable", scope: "state", relativePath: "helmdeck-memory.key" },
      { disposition: "regenerable", scope: "state", relativePath: "helmdeck-memory-model" },
    ]);
    expect(manifest.configContracts.secretInputs.paths).toMatchObject([
      { path: "encryptionKey" },
      { path: "embeddings.apiKey" },
    ]);
    expect(KEY_CONFIG_PATH).toBe(`plugins.entries.${manifest.id}.config.encryptionKey`);
    expect(manifest.uiHints.encryptionKey.sensitive).toBe(true);
  });

  test.each([
    ["0123456789abcdef".repeat(4), true],
    ["0123456789ABCDEF".repeat(4), true],
    ["0123456789abcdef".repeat(4).slice(1), false],
    [`${"0".repeat(64)}\n`, false],
    ["g".repeat(64), false],
    ["", false],
  ])("the key %j: %s", (key, fits) => {
    const [plain] = manifest.configSchema.properties.encryptionKey.anyOf;
    expect(new RegExp(plain.pattern, "u").test(key)).toBe(fits);
  });

  test("lists the settings and providers of embeddings that the plugin reads", () => {
    const { properties, additionalProperties } = manifest.configSchema.properties.embeddings;
    expect(Object.keys(properties)).toEqual([
      ...["provider", "url", "model", "apiKey", "dimensions", "keepAlive"],
    ]);
    expect(properties.provider.enum).toEqual(EMBEDDING_PROVIDERS);
    expect(additionalProperties).toBe(false);
  });

  test.each([
    ["/data/memory.sqlite", true],
    ["memory.sqlite", false],
    ["/data/memory.db", false],
    ["/data/.sqlite", false],
    ["~/memory.sqlite", false],
  ])("the database path %j: %s", (path, fits) => {
    expect(new RegExp(manifest.configSchema.properties.databasePath.pattern, "u").test(path)).toBe(fits);
  });

  test("has the root package's version, and the hosts that the tests run", () => {
    expect({ id: manifest.id, version: manifest.version }).toEqual({
      id: PLUGIN_ID,
      version: rootPackage.version,
    });
    expect(TESTED_HOSTS).toEqual({
      oldest: OLDEST_HOST.openclaw,
      newest: rootPackage.devDependencies.openclaw,
    });
    expect(OLDEST_OPENCLAW).toBe(OLDEST_HOST.openclaw);
  });
});

test("the plugin's package has no dependencies and requires the oldest tested host", () => {
  const made = pluginPackage(rootPackage);
  expect(made).toMatchObject({
    name: "@helmdeck/helmdeck-memory",
    publishConfig: { access: "public" },
    version: rootPackage.version,
    license: "Apache-2.0",
    type: "module",
    peerDependencies: { openclaw: ">=2026.8.1" },
    peerDependenciesMeta: { openclaw: { optional: true } },
    openclaw: {
      extensions: ["./dist/index.js"],
      install: { minHostVersion: ">=2026.8.1" },
      compat: { pluginApi: ">=2026.8.1" },
      build: { openclawVersion: "2026.9.6" },
    },
  });
  expect(Object.keys(made)).not.toContain("dependencies");
  expect(Object.keys(made)).not.toContain("scripts");
});
