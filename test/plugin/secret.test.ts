import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isHelmdeckError } from "../../engine/errors.ts";
import { resolveConfiguredKey, type SecretResolver } from "../../plugin/resolve-secret.ts";

const KEY = "0123456789abcdef".repeat(4);
const REFERENCE = { source: "env", provider: "default", id: "HELMDECK_KEY" };

const resolveWith = (value: unknown, resolver: SecretResolver) =>
  resolveConfiguredKey(value, {}, {}, async () => resolver);

async function refusalOf(resolving: Promise<unknown>): Promise<string> {
  const error = await resolving.catch((caught: unknown) => caught);
  if (!isHelmdeckError(error, "key_unreadable"))
    throw new Error(`Expected key_unreadable, got ${String(error)}.`);
  return `${error.message} ${JSON.stringify(error.details)} ${error.stack}`;
}

const notAsked: SecretResolver = () => Promise.reject(new Error("The resolver was not to be asked."));

describe("the configured key", () => {
  test.each([undefined, null])(
    "%s means that no key is configured, and the resolver is not loaded",
    async (value) => {
      const load = () => Promise.reject(new Error("not to be loaded"));
      expect(await resolveConfiguredKey(value, {}, {}, load)).toBeUndefined();
    },
  );

  test("a string is used as the key", async () => {
    expect(await resolveWith(KEY, notAsked)).toBe(KEY);
  });

  test("a reference is resolved with the host's configuration and environment", async () => {
    const env = { HELMDECK_KEY: KEY };
    const resolver: SecretResolver = async (request) => {
      expect(request).toMatchObject({
        value: REFERENCE,
        env,
        path: "plugins.entries.helmdeck-memory.config.encryptionKey",
      });
      return { value: KEY };
    };
    expect(await resolveConfiguredKey(REFERENCE, {}, env, async () => resolver)).toBe(KEY);
  });

  test.each([
    ["cannot be resolved", async () => ({})],
    ["resolves to nothing", async () => ({ value: "" })],
    ["resolves to no text", async () => ({ value: 7 as unknown as string /* against its type */ })],
    ["makes the resolver fail", () => Promise.reject(new Error(`cannot read ${KEY}`))],
  ])("a reference that %s closes memory and creates no new key", async (_, resolver: SecretResolver) => {
    const said = await refusalOf(resolveWith(REFERENCE, resolver));
    expect(said).toContain("the secret env:default:HELMDECK_KEY");
    expect(said).not.toContain(KEY);
  });

  test("a reference on a host without the resolver closes memory", async () => {
    const load = () => Promise.reject(new Error("no such module"));
    await refusalOf(resolveConfiguredKey(REFERENCE, {}, {}, load));
  });

  test.each([
    ["a key where an id should be", { source: "env", provider: "default", id: KEY }],
    ["a key as an object", { value: KEY }],
    ["a key in a list", [KEY]],
  ])("%s is not shown", async (_, value) => {
    expect(await refusalOf(resolveWith(value, async () => ({})))).not.toContain(KEY);
  });

  test("a value that is neither a string nor a reference closes memory", async () => {
    const neither = fc
      .anything()
      .filter((value) => value !== undefined && value !== null && typeof value !== "string");
    await fc.assert(
      fc.asyncProperty(neither, async (value) => {
        await refusalOf(resolveWith(value, async () => ({})));
      }),
    );
  });

  test("OpenClaw's own resolver resolves a reference to the environment, and fails for a missing variable", async () => {
    const config = { secrets: { providers: { default: { source: "env" as const } } } };
    expect(await resolveConfiguredKey(REFERENCE, config, { HELMDECK_KEY: KEY })).toBe(KEY);
    expect(await refusalOf(resolveConfiguredKey(REFERENCE, config, {}))).toContain("HELMDECK_KEY");
  });
});
