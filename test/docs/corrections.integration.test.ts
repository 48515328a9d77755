/** Corrections in the built program: over MCP, in the store, and after an import of an old export or a restored backup. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BUNDLED_COMMAND, CommandHome } from "../cli/command.ts";

const OLD = { key: "deploy/konflux", value: "Production deploys go through Konflux." };
const NEW = { key: "deploy/argo", value: "Production deploys go through Argo." };

describe("a correction over MCP", () => {
  let home: CommandHome;
  let client: Client;
  beforeAll(async () => {
    home = new CommandHome();
    client = await connect(home);
  });
  afterAll(async () => {
    await client.close();
    await home.remove();
  });

  const tool = async (name: string, args: Readonly<Record<string, unknown>>) =>
    Object(await client.callTool({ name: `helmdeck__memory_${name}`, arguments: args })).structuredContent;
  const facts = async (caller = "main") => {
    const { stdout } = await home.run(["list", "--json", "--caller", caller]);
    return JSON.parse(stdout).facts.map(({ key }: { readonly key: string }) => key);
  };
  const exportTo = (file: string, ...flags: readonly string[]) =>
    home.run(["export", "--output", home.path(file), ...flags]);

  // verifies P-supersede-scope, P-no-resurrection, P-history-hidden, P-history-erased
  test("is stored, changes nothing else, and is not undone by an old export", async () => {
    for (const caller of ["main", "work"]) {
      expect(await home.run(["store", OLD.key, OLD.value, "--caller", caller])).toMatchObject({ code: 0 });
    }
    await home.run(["store", "unrelated", "The heron stands at the lake."]);
    expect(await exportTo("old.jsonl")).toMatchObject({ code: 0 });

    expect(await tool("store", NEW)).toMatchObject({ similar: [{ key: OLD.key, value: OLD.value }] });
    expect(await tool("store", { ...NEW, supersedes: [OLD.key] })).toMatchObject({ superseded: [OLD.key] });
    const found = JSON.stringify(await tool("corpus", { query: "how do production deploys go" }));
    expect(found).toContain("Argo");
    expect(found).not.toContain("Konflux");
    expect(await tool("history", { key: OLD.key })).toMatchObject({ key: NEW.key });
    expect(await facts()).toEqual([NEW.key, "unrelated"]);
    expect(await facts("work")).toEqual([OLD.key]);

    const imported = JSON.parse((await home.run(["import", home.path("old.jsonl"), "--json"])).stdout);
    expect(imported).toMatchObject({ retired: 1, refused_count: 0 });
    expect((await facts()).toSorted()).toEqual([NEW.key, "unrelated"]);

    expect(await exportTo("whole.jsonl", "--with-history")).toMatchObject({ code: 0 });
    await home.run(["import", home.path("whole.jsonl"), "--caller", "copy"]);
    const again = JSON.parse(
      (await home.run(["import", home.path("old.jsonl"), "--caller", "copy", "--json"])).stdout,
    );
    expect(again).toMatchObject({ retired: 1 });
    await home.run(["import", home.path("old.jsonl"), "--caller", "copy", "--on-conflict", "replace"]);
    expect(await facts("copy")).toContain(OLD.key);

    expect(await tool("forget", { scope: OLD.key })).toMatchObject({ deleted: 0, former: 1 });
    expect(await tool("history", { key: NEW.key })).toEqual({ key: NEW.key, former: [expect.anything()] });
    expect(await facts("work")).toEqual([OLD.key]);
  });
});

function connect(home: CommandHome): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BUNDLED_COMMAND, "mcp", "--packs", "--caller", "main"],
    env: { PATH: `${process.env.PATH}`, HOME: home.folder, TZ: "UTC" },
  });
  return client.connect(transport).then(() => client);
}
