/** The output of memory_search and memory_get of the real OpenClaw, with the packed plugin installed. */
import { beforeAll, describe, expect, it } from "vitest";
import { hitsOf, pathsOf, sharedOpenClaw } from "./shared.ts";

const openclaw = await sharedOpenClaw();
const QUERY = "what was that thing about my Konflux deployment preference";
const KEY = "konflux/deployment-preference";
const PATH = `helmdeck/user_facts/${KEY}.md`;
/** The frame of a fact that a tool call in the agent's main session stored. */
const FRAME =
  /^fact "konflux\/deployment-preference" in user_facts, stored \d{4}-\d\d-\d\d by agent main \(\w+\):$/;
const VALUE = "Deploy Konflux changes to staging first, and never on a Friday.";

beforeAll(async () => {
  const stored = await openclaw.invokeTool("helmdeck__memory_store", { key: KEY, value: VALUE });
  expect(stored).toMatchObject({ status: 200, details: { key: KEY, path: PATH } });
});

// verifies P-recall-found
describe("memory_search", () => {
  it("finds a stored fact beside OpenClaw's own notes when no corpus is named", async () => {
    const reply = await openclaw.invokeTool("memory_search", { query: QUERY });
    expect(pathsOf(reply, "helmdeck")).toEqual([PATH]);
    expect(pathsOf(reply, "memory")).toContain("MEMORY.md");
    const [hit] = hitsOf(reply).filter(({ corpus }) => corpus === "helmdeck");
    const [frame, ...quotation] = hit?.snippet.split("\n") ?? [];
    expect(frame).toMatch(FRAME);
    expect(quotation).toEqual([`> ${VALUE}`]);
    expect(hit).toMatchObject({ title: `fact "${KEY}"`, kind: "fact", startLine: 3, endLine: 3 });
    expect(hit?.score).toBeGreaterThan(0.5);
    expect(reply.details.disabled).toBeUndefined();
  });

  it("finds the fact with corpus all", async () => {
    const reply = await openclaw.invokeTool("memory_search", { query: QUERY, corpus: "all" });
    expect(pathsOf(reply, "helmdeck")).toEqual([PATH]);
    expect(pathsOf(reply, "memory")).toContain("MEMORY.md");
  });

  it("finds only the fact with corpus wiki", async () => {
    const reply = await openclaw.invokeTool("memory_search", { query: QUERY, corpus: "wiki" });
    expect(pathsOf(reply, "helmdeck")).toEqual([PATH]);
    expect(pathsOf(reply, "memory")).toEqual([]);
  });

  it("finds only OpenClaw's own notes with corpus memory", async () => {
    const reply = await openclaw.invokeTool("memory_search", { query: QUERY, corpus: "memory" });
    expect(pathsOf(reply, "helmdeck")).toEqual([]);
    expect(pathsOf(reply, "memory")).toContain("MEMORY.md");
  });

  it("returns no sure hit from facts if only the notes contain the answer", async () => {
    const reply = await openclaw.invokeTool("memory_search", { query: "harvest of the pear trees" });
    expect(hitsOf(reply).filter(({ corpus, score }) => corpus === "helmdeck" && score >= 0.5)).toEqual([]);
    expect(pathsOf(reply, "memory")).toContain("memory/2026-11-02.md");
  });

  it("lists possibly related facts after the notes, marked as such", async () => {
    const query = "who told Konflux about the harvest of the pear trees";
    const hits = hitsOf(await openclaw.invokeTool("memory_search", { query }));
    const ours = hits.findIndex(({ corpus }) => corpus === "helmdeck");
    expect(hits[ours]).toMatchObject({ path: PATH });
    expect(hits[ours]?.score).toBeLessThan(0.35);
    expect(hits[ours]?.snippet).toMatch(
      /^Only possibly related \(\w+\): fact "konflux\/deployment-preference" in /,
    );
    expect(hits[ours]?.snippet.length).toBeLessThanOrEqual(220);
    expect(hits[ours]?.provenanceLabel).toContain("only possibly related");
    const note = hits.findIndex(({ path }) => path === "memory/2026-11-02.md");
    expect(note).toBeGreaterThanOrEqual(0);
    expect(note).toBeLessThan(ours);
  });

  it("returns at most maxResults hits", async () => {
    const reply = await openclaw.invokeTool("memory_search", { query: QUERY, maxResults: 1 });
    expect(hitsOf(reply)).toHaveLength(1);
  });
});

describe("memory_get", () => {
  it("reads a hit in full by its path, without a warning", async () => {
    const { details } = await openclaw.invokeTool("memory_get", { path: PATH });
    expect(details).toMatchObject({ status: "ok", path: PATH, fromLine: 1, truncated: false });
    const [frame, ...quotation] = String(details.text).split("\n");
    expect(frame).toMatch(FRAME);
    expect(quotation).toEqual([`> ## ${KEY}`, ">", `> ${VALUE}`, ">", "> (category: user_facts)"]);
    expect(details.warning).toBeUndefined();
  });

  it.each(["all", "memory", "wiki"])("also reads it with corpus %s", async (corpus) => {
    const { details } = await openclaw.invokeTool("memory_get", { path: PATH, corpus });
    expect(details).toMatchObject({ status: "ok", path: PATH });
    expect(details.warning).toBeUndefined();
  });

  it("reads from a given line", async () => {
    const { details } = await openclaw.invokeTool("memory_get", { path: PATH, from: 3, lines: 1 });
    expect(details).toMatchObject({ fromLine: 3, lineCount: 1, totalLines: 5, truncated: true });
    const [frame, ...quotation] = String(details.text).split("\n");
    expect(frame).toMatch(FRAME);
    expect(quotation).toEqual([`> ${VALUE}`]);
  });

  it("shows a summary without values in helmdeck/my-memory.md", async () => {
    const { details } = await openclaw.invokeTool("memory_get", { path: "helmdeck/my-memory.md" });
    expect(details).toMatchObject({ status: "ok", path: "helmdeck/my-memory.md" });
    expect(details.text).toContain(KEY);
    expect(details.text).not.toContain("Friday");
  });

  it("still reads OpenClaw's own notes", async () => {
    const { details } = await openclaw.invokeTool("memory_get", { path: "MEMORY.md" });
    expect(details).toMatchObject({ status: "ok", path: "MEMORY.md" });
    expect(details.text).toContain("GitOps");
  });

  it.each([
    "helmdeck/user_facts/no-such-key.md",
    "helmdeck/../MEMORY.md",
    "helmdeck/user_facts/../../../../../etc/passwd.md",
    "helmdeck//etc/passwd",
    "helmdeck/",
    `helmdeck/user_facts/${KEY}.md/`,
    `helmdeck/user_facts/${KEY.toUpperCase()}.md`,
    "helmdeck/user_facts/konflux%2Fdeployment-preference.md",
    "helmdeck/pack_history/konflux/deployment-preference.md",
  ])("finds nothing at %s", async (path) => {
    const { details } = await openclaw.invokeTool("memory_get", { path });
    expect(details).toMatchObject({ status: "not_found", text: "" });
  });

  it.each(["../MEMORY.md", "/etc/passwd", "memory/no-such-note.md", "some words that a model made up"])(
    "returns nothing from memory for the foreign path %s, whatever the corpus",
    async (path) => {
      for (const corpus of [undefined, "wiki", "all"]) {
        const { details } = await openclaw.invokeTool("memory_get", corpus ? { path, corpus } : { path });
        expect(details.status).not.toBe("ok");
        expect(details.text ?? "").toBe("");
        expect(details.corpus).not.toBe("helmdeck");
      }
    },
  );
});
