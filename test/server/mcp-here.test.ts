/** The resource helmdeck://here/{project}/recall: a dev loop's questions to a server, only for the caller and the project. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Memory, memoryFrom } from "../../app/memory.ts";
import { HelmdeckError } from "../../engine/errors.ts";
import { recallRequestIn } from "../../server/mcp/mcp-server.ts";
import { makeMcpService } from "../../server/mcp/mcp-service.ts";
import { openTestMemory } from "../app/fixtures/memories.ts";
import { mcpClientOf } from "./fixtures/mcp-client.ts";
import { testServerContext } from "./fixtures/mcp-context.ts";

async function connect(memory: Memory, subject: string): Promise<Client> {
  const service = makeMcpService(testServerContext({ memory }));
  const client = await mcpClientOf(service, subject);
  onTestFinished(async () => {
    await client.close();
    service.watch.close();
  });
  return client;
}

async function recallAs(client: Client, rest: string): Promise<{ text: unknown; notes: unknown }> {
  const uri = `helmdeck://here/${rest}`;
  const { contents } = await client.readResource({ uri });
  expect(contents).toMatchObject([{ uri, mimeType: "text/markdown" }]);
  const [first] = contents;
  return { text: first && "text" in first ? first.text : undefined, notes: first?._meta?.notes };
}

async function twoCallers(): Promise<Memory> {
  const memory = await openTestMemory();
  const decision = { key: "projects/heron/decisions/db", category: "decisions" };
  await memory.storeFact("alice", { ...decision, value: "one file database" });
  await memory.storeFact("bob", { ...decision, value: "three servers" });
  await memory.storeFact("alice", {
    key: "projects/heron/known_issues/upload",
    category: "known_issues",
    value: "the upload test is flaky",
  });
  return memory;
}

describe("the resource of a project", () => {
  test("is listed as a template, with its parameters", async () => {
    const client = await connect(await openTestMemory(), "alice");
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toContainEqual(
      expect.objectContaining({ uriTemplate: "helmdeck://here/{project}/recall{?phase,query}" }),
    );
  });

  test("shows the caller's own memory, only the phase's categories, best match first", async () => {
    const memory = await twoCallers();
    const alice = await connect(memory, "alice");
    const { text } = await recallAs(alice, "heron/recall?phase=work&query=flaky%20upload");
    expect(text).toMatch(/^# Auto-context recall — phase: work, project: heron\n/);
    expect(text).toMatch(/### known_issues\/upload\n[\s\S]*### decisions\/db\n\none file database/);
    expect(text).not.toContain("three servers");
    expect((await recallAs(alice, "heron/recall?phase=bugfix")).text).not.toContain("one file database");
    expect((await recallAs(await connect(memory, "bob"), "heron/recall")).text).toContain("three servers");
  });

  test("is empty, with the reason, for a project without entries in memory", async () => {
    const client = await connect(await twoCallers(), "alice");
    const { text, notes } = await recallAs(client, "egret/recall?phase=plan");
    expect(text).toBe("");
    expect(notes).toEqual([expect.stringContaining("nothing for the phase plan")]);
  });

  test.each([
    ...["..", "%2e%2e", "%2E%2E%2Fheron", "heron%2Fdecisions"],
    ...["projects%2Fheron", "HERON", "her%25on", "%00"],
  ])("with the slug %s is never another project's", async (slug) => {
    const client = await connect(await twoCallers(), "alice");
    expect((await recallAs(client, `${slug}/recall`)).text).toBe("");
  });

  test.each([
    "helmdeck://here//recall",
    "helmdeck://here/a/b/recall",
    "helmdeck://here/%ZZ/recall",
    "helmdeck://here/a",
    "helmdeck://here/%20/recall",
  ])("is not found at %s", async (uri) => {
    expect(recallRequestIn(uri)).toBeUndefined();
    const client = await connect(await openTestMemory(), "alice");
    await expect(client.readResource({ uri })).rejects.toThrow("Resource not found");
  });

  test("accepts no folder and no caller in its address", () => {
    const asked = recallRequestIn("helmdeck://here/heron/recall?cwd=/etc&caller=bob&namespace=bob&limit=9");
    expect(asked).toEqual({ project: "heron" });
  });

  test("gives the reason if memory does not open", async () => {
    const refuse = async () => {
      throw new HelmdeckError("memory_unavailable", "Another key made it.", {
        details: { reason: "key_wrong" },
      });
    };
    const broken = memoryFrom(() => refuse);
    await expect(recallAs(await connect(broken, "alice"), "heron/recall")).rejects.toThrow(
      "Memory is not available: the memory key belongs to another database (key_wrong).",
    );
  });
});
