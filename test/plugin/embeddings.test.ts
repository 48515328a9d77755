import { describe, expect, test } from "vitest";
import { parseConfig } from "../../plugin/config.ts";
import { embeddingSettings } from "../../plugin/memory-settings.ts";
import { API_KEY_CONFIG_PATH, type SecretResolver } from "../../plugin/resolve-secret.ts";

const SERVICE = { provider: "openai-compatible", url: "https://vectors.example/v1", model: "m" };
const REFERENCE = { source: "env", provider: "default", id: "VECTORS_KEY" };

const settingsOf = (
  embeddings: unknown,
  resolver: SecretResolver = () => Promise.reject(new Error("not to be asked")),
) => embeddingSettings(parseConfig({ embeddings }).embeddings, {}, {}, async () => resolver);

describe("the key of the embedding service", () => {
  test("is optional, a text, or a reference that the host resolves", async () => {
    expect(await settingsOf(SERVICE)).toEqual(SERVICE);
    expect(await settingsOf({ ...SERVICE, apiKey: "sk-1" })).toEqual({ ...SERVICE, apiKey: "sk-1" });
    const resolver: SecretResolver = async ({ value, path }) => {
      expect({ value, path }).toEqual({ value: REFERENCE, path: API_KEY_CONFIG_PATH });
      return { value: "sk-2" };
    };
    expect(await settingsOf({ ...SERVICE, apiKey: REFERENCE }, resolver)).toEqual({
      ...SERVICE,
      apiKey: "sk-2",
    });
  });

  test.each([
    ["cannot be resolved", async () => ({})],
    ["makes the resolver fail", () => Promise.reject(new Error("sk-s3cr3t"))],
  ])("that %s turns semantic search off, and no request is sent", async (_, resolver: SecretResolver) => {
    const settings = await settingsOf({ ...SERVICE, apiKey: REFERENCE }, resolver);
    expect(settings).toEqual({
      provider: "unusable",
      problem: expect.stringContaining("the secret env:default:VECTORS_KEY, which could not be read"),
    });
    expect(JSON.stringify(settings)).not.toContain("s3cr3t");
  });

  test("is not used for Ollama", async () => {
    expect(await settingsOf({ provider: "ollama", apiKey: "sk-s3cr3t" })).toEqual({
      provider: "unusable",
      problem: expect.not.stringContaining("s3cr3t"),
    });
  });

  test("is not resolved if embeddings are off", async () => {
    expect(await settingsOf({ provider: "none", apiKey: REFERENCE })).toEqual({ provider: "none" });
  });
});
