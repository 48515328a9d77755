/** Facts are stored, changed and forgotten through the tools, and by the gateway and the command line, two processes with one database. */
import { describe, expect, it } from "vitest";
import { helmdeckMemory, hitsOf, pathsOf, sharedOpenClaw } from "./shared.ts";

const openclaw = await sharedOpenClaw();

describe("the tools", () => {
  it("store a fact that the next search finds, replace it, and forget it", async () => {
    const key = "garden/tomatoes";
    const path = `helmdeck/user_facts/${key}.md`;
    const query = "tomatoes in the garden";
    const store = (value: string) => openclaw.invokeTool("helmdeck__memory_store", { key, value });

    const first = await store("The tomatoes stand along the south wall.");
    expect(first.details.replaced).toBeUndefined();
    expect(pathsOf(await openclaw.invokeTool("memory_search", { query }), "helmdeck")).toEqual([path]);

    const second = await store("The tomatoes moved into the greenhouse.");
    expect(second.details).toMatchObject({ replaced: { refreshed: false } });
    const [hit] = hitsOf(await openclaw.invokeTool("memory_search", { query })).filter(
      (h) => h.corpus === "helmdeck",
    );
    expect(hit?.snippet).toContain("greenhouse");
    expect(hit?.snippet).not.toContain("south wall");

    // A path from a search can be passed to forget.
    const look = await openclaw.invokeTool("helmdeck__memory_forget", { scope: path, dry_run: true });
    expect(look.details).toMatchObject({ deleted: 1, dry_run: true });
    expect((await openclaw.invokeTool("memory_get", { path })).details.status).toBe("ok");
    const forgotten = await openclaw.invokeTool("helmdeck__memory_forget", { scope: path });
    expect(forgotten.details).toMatchObject({ deleted: 1, dry_run: false });
    expect(pathsOf(await openclaw.invokeTool("memory_search", { query }), "helmdeck")).toEqual([]);
    expect((await openclaw.invokeTool("memory_get", { path })).details.status).toBe("not_found");
  });

  it("forget by the key, the id and the citation that a search shows, and suggest the nearest key otherwise", async () => {
    const key = "garden/beans";
    const query = "where do the beans climb";
    const store = () =>
      openclaw.invokeTool("helmdeck__memory_store", { key, value: "The beans climb up the fence." });
    const forget = (scope: string) => openclaw.invokeTool("helmdeck__memory_forget", { scope });

    await store();
    const [hit] = hitsOf(await openclaw.invokeTool("memory_search", { query })).filter(
      (h) => h.corpus === "helmdeck",
    );
    expect(hit?.citation).toMatch(/^helmdeck\/user_facts\/garden\/beans\.md#L/);
    const read = await openclaw.invokeTool("memory_get", { path: hit?.citation ?? "" });
    expect(read.details).toMatchObject({ status: "ok", text: expect.stringContaining("up the fence") });
    for (const scope of [hit?.citation ?? "", hit?.id ?? "", key]) {
      expect((await forget(scope)).details).toMatchObject({ deleted: 1, erased: "complete" });
      await store();
    }
    expect((await forget("Garden/Beans")).details).toMatchObject({
      deleted: 0,
      erased: "nothing",
      near: [key],
    });
    expect((await forget(key)).details).toMatchObject({ deleted: 1 });
  });

  it.each([
    [{}, "key is missing"],
    [{ key: "k" }, "value is missing"],
    [{ key: [7], value: "v" }, "key must be a string"],
    [{ key: "k", value: "v", category: "pack_history" }, "category"],
    [{ key: "k", value: "v", ttl_seconds: 60 }, "ttl"],
    [{ key: "k", value: "x".repeat(65_537) }, "value"],
    [{ key: "a\u0000b", value: "v" }, "key"],
  ])("refuse %j with the field's name, and store nothing", async (args, field) => {
    const reply = await openclaw.invokeTool("helmdeck__memory_store", args);
    expect(reply).toMatchObject({ status: 400, ok: false });
    expect(reply.error?.message).toContain("invalid_input");
    expect(reply.error?.message).toContain(field);
  });

  it.each([
    [403, {}],
    [400, { scope: "" }],
    [400, { scope: "key:" }],
    [400, { scope: "category:pack_history" }],
    [403, { scope: "key:k", dry_run: "yes" }],
  ])("refuse to forget with %i: %j", async (status, args) => {
    const reply = await openclaw.invokeTool("helmdeck__memory_forget", args);
    expect(reply).toMatchObject({ status, ok: false });
  });

  it("distinguish a fact whose key looks like an audit row from audit rows", async () => {
    const key = "pack_history/content.draft/00000000000000000001";
    const reply = await openclaw.invokeTool("helmdeck__memory_store", { key, value: "a fact about pencils" });
    expect(reply.status).toBe(200);
    const { details } = await openclaw.invokeTool("memory_get", { path: String(reply.details.path) });
    expect(details.text).toMatch(
      /^fact "pack_history\/content\.draft\/0{19}1" in user_facts, stored .*:\n> /,
    );
    expect(details.text).toContain("\n> a fact about pencils\n");
    expect(String(details.path)).toMatch(/^helmdeck\/user_facts\//);
  });

  it("escape hostile text", async () => {
    const key = "hostile/bidi";
    const value = "walnut cake \u202Etxt.exe\u202C \u001B[31mred\u001B[0m";
    await openclaw.invokeTool("helmdeck__memory_store", { key, value });
    const reply = await openclaw.invokeTool("memory_search", { query: "walnut cake" });
    const [hit] = hitsOf(reply).filter((h) => h.corpus === "helmdeck");
    expect(hit?.snippet).toContain("walnut cake");
    expect(hit?.snippet.replaceAll("\n", "")).not.toMatch(/[\p{Cf}\p{Cc}]/u);
  });
});

describe("the command line beside the running gateway", () => {
  it("stores what the gateway's next search finds, and forgets it there too", async () => {
    const key = "harbour/crane";
    const stored = await helmdeckMemory(
      openclaw,
      "store",
      key,
      "The crane in the harbour lifts forty tonnes.",
    );
    expect(stored).toMatchObject({ code: 0 });
    const query = "how much does the harbour crane lift";
    const found = await openclaw.invokeTool("memory_search", { query });
    expect(pathsOf(found, "helmdeck")).toEqual([`helmdeck/user_facts/${key}.md`]);
    expect((await helmdeckMemory(openclaw, "forget", `key:${key}`, "--yes")).code).toBe(0);
    expect(pathsOf(await openclaw.invokeTool("memory_search", { query }), "helmdeck")).toEqual([]);
  });

  it("finds what the tool stored", async () => {
    const key = "harbour/tide";
    await openclaw.invokeTool("helmdeck__memory_store", {
      key,
      value: "High tide in the harbour is at six.",
    });
    const found = await helmdeckMemory(openclaw, "search", "harbour tide", "--json");
    expect(JSON.parse(found.stdout).results[0]).toMatchObject({ key, category: "user_facts" });
  });
});
