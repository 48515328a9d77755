/** The upstream test cases of the seam, with notes on differences. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { storeRequestSchema } from "../../app/operations/store-fact.ts";
import { fromWire } from "../../app/wire/codec.ts";
import { openTestMemory } from "../app/fixtures/memories.ts";
import { projectFact, SeamHome, SLUG } from "./fixtures.ts";

const CANDIDATE = { kind: "decision", slug: "x", body: "b" } as const;

async function homeWithMemory(): Promise<SeamHome> {
  const home = await SeamHome.make();
  await home.store([
    { key: "house/conventions", category: "always", value: "a test convention" },
    projectFact("decisions", "db", "one file database"),
    projectFact("known_issues", "upload", "the upload test is flaky"),
  ]);
  return home;
}

describe("recall here", () => {
  test("returns the phase's recall with memory, unlike upstream, which always returned nothing", async () => {
    const home = await homeWithMemory();
    const text = await home.seam().recallHere({ phase: "work" });
    expect(text).toContain("a test convention");
    expect(text).toContain("one file database");
    expect(text).toContain("the upload test is flaky");
    expect(home.notes).toEqual([]);
  });

  test.each(["not-a-real-phase", "Work", "work ", "", "constructor"])(
    "uses the phase work for the unknown phase %j",
    async (phase) => {
      const seam = (await homeWithMemory()).seam();
      expect(await seam.recallHere({ phase })).toBe(await seam.recallHere({ phase: "work" }));
    },
  );

  test("uses the phase work without a phase", async () => {
    const seam = (await homeWithMemory()).seam();
    const work = await seam.recallHere({ phase: "work" });
    expect(await seam.recallHere({})).toBe(work);
    expect(await seam.recallHere({ phase: "setup" })).not.toBe(work);
  });

  test("ranks by the query, which upstream ignored", async () => {
    const seam = (await homeWithMemory()).seam();
    const plain = await seam.recallHere({ phase: "work" });
    const about = (query: string) => seam.recallHere({ phase: "work" }, { query });
    expect(plain.indexOf("known_issues/upload")).toBeGreaterThan(plain.indexOf("decisions/db"));
    const ranked = await about("flaky upload");
    expect(ranked.indexOf("known_issues/upload")).toBeLessThan(ranked.indexOf("decisions/db"));
    expect(await about("one file database")).toBe(plain);
    expect(await about("  ")).toBe(plain);
  });

  test.each([null, undefined])("accepts %s as context", async (context) => {
    const home = await SeamHome.make();
    expect(await home.seam().recallHere(context)).toBe("");
  });
});

describe("offer save here", () => {
  test.each([null, undefined, "", {}, [], 0, false])("offers nothing for %j", async (candidate) => {
    const home = await homeWithMemory();
    expect(await home.seam().offerSaveHere({}, candidate)).toEqual([]);
    expect(home.notes).toHaveLength(1);
  });

  test("offers nothing without a project", async () => {
    const home = await homeWithMemory();
    expect(await home.seam().offerSaveHere({ cwd: home.folder }, CANDIDATE)).toEqual([]);
    expect(home.notes).toEqual([expect.stringContaining("project of this folder is unknown")]);
  });

  test("adds the project and the target, and keeps the candidate's fields", async () => {
    const home = await homeWithMemory();
    const key = `projects/${SLUG}/decisions/x`;
    expect(await home.seam().offerSaveHere({}, { ...CANDIDATE, confidence: 0.9 })).toEqual([
      {
        ...CANDIDATE,
        confidence: 0.9,
        project: SLUG,
        target: {
          namespace: "main",
          key,
          category: "decisions",
          arguments: { key, category: "decisions", value: "b" },
        },
      },
    ]);
  });

  test("adds the given phase, and keeps the candidate's own project and phase", async () => {
    const seam = (await homeWithMemory()).seam();
    expect(await seam.offerSaveHere({ phase: "review" }, { body: "b" })).toMatchObject([{ phase: "review" }]);
    expect((await seam.offerSaveHere({}, { body: "b" }))[0]).not.toHaveProperty("phase");
    const own = { body: "b", project: "mine", phase: "plan" };
    expect(await seam.offerSaveHere({ phase: "review" }, own)).toMatchObject([own]);
  });

  test.each(["free text", 42, ["a", "list"]])("wraps %j, which is not an object", async (candidate) => {
    const seam = (await homeWithMemory()).seam();
    expect(await seam.offerSaveHere({}, candidate)).toMatchObject([{ body: candidate, project: SLUG }]);
  });

  test("does not change the caller's candidate", async () => {
    const candidate = Object.freeze({ ...CANDIDATE });
    const [offer] = await (await homeWithMemory()).seam().offerSaveHere({ phase: "work" }, candidate);
    expect(candidate).toEqual(CANDIDATE);
    expect(offer).not.toBe(candidate);
  });

  test.each([
    ["decision", "work"],
    ["Known Issue", "bugfix"],
    ["open-question", "plan"],
    ["convention", "review"],
    ["index", "setup"],
    ["wiki_style", "documenter"],
  ])(
    "makes an offer of the kind %s that can be stored, and that the phase %s recalls",
    async (kind, phase) => {
      const home = await homeWithMemory();
      const body = `something about a ${kind}`;
      const [offer] = await home.seam().offerSaveHere({}, { kind, slug: "../../../etc/passwd\n# x", body });
      const { databasePath, keyPath } = home;
      const memory = await openTestMemory({ databasePath, keyPath });
      // REST and MCP check the arguments of helmdeck__memory_store with this schema.
      const request = storeRequestSchema.parse(offer?.target.arguments);
      await memory.storeFact(String(offer?.target.namespace), fromWire(request));
      expect(await home.seam().recallHere({ phase })).toContain(body);
    },
  );
});

describe("state path", () => {
  test("accepts plan and progress only", async () => {
    const seam = (await SeamHome.make()).seam();
    // simulates a caller without types
    const asked = "bogus" as "plan";
    await expect(seam.statePath({}, asked)).rejects.toMatchObject({ code: "invalid_input" });
  });

  test.each(["without", "with"])("is in the project's folder %s memory", async (presence) => {
    const home = presence === "with" ? await homeWithMemory() : await SeamHome.make();
    expect(await home.seam().statePath({}, "plan")).toBe(join(home.repo, ".harness", "PLAN.md"));
    expect(await home.seam().statePath(null, "progress")).toBe(join(home.repo, ".harness", "progress.md"));
  });

  test.each(["foo", "PLAN-foo", "PLAN-foo.md", " foo\n"])("of the plan %j need not exist", async (plan) => {
    const home = await SeamHome.make();
    expect(await home.seam().statePath({ plan }, "plan")).toBe(join(home.repo, ".harness", "PLAN-foo.md"));
    expect(await home.seam().statePath({ plan }, "progress")).toBe(
      join(home.repo, ".harness", "progress-foo.md"),
    );
  });

  test.each(["   \n", "", "\ufeff", "PLAN", "PLAN.md", "missing", "../escape", ".."])(
    "with the marker %j fails, and never falls back to the single plan",
    async (marker) => {
      const home = await SeamHome.make();
      await home.write(".harness/PLAN.md", "the single plan");
      const path = await home.write(".harness/active-plan", marker);
      const failure = home.seam().statePath({}, "plan");
      await expect(failure).rejects.toMatchObject({ code: "active_plan_corrupt", details: { path } });
      await expect(failure).rejects.toThrow(JSON.stringify(marker.trim()));
      await expect(failure).rejects.toThrow("Write the name of an existing plan into it, or delete it");
    },
  );

  test.each(["../escape", "a/b", "a\\b", ".", "..", "a\0b", "PLAN-", "a\nb"])(
    "refuses the unsafe plan %j",
    async (plan) => {
      const seam = (await SeamHome.make()).seam();
      await expect(seam.statePath({ plan }, "plan")).rejects.toMatchObject({ code: "invalid_input" });
      await expect(seam.statePath({ plan }, "plan")).rejects.toThrow("is unsafe");
    },
  );

  test("prefers the named plan to the marker, and the marker to the single plan", async () => {
    const home = await SeamHome.make();
    await home.write(".harness/active-plan", "PLAN-Bound.md\n");
    await home.write(".harness/PLAN-Bound.md", "# Bound");
    await home.write(".harness/PLAN.md", "# Single");
    const seam = home.seam();
    expect(await seam.statePath({}, "plan")).toBe(join(home.repo, ".harness", "PLAN-Bound.md"));
    expect(await seam.statePath({ plan: "" }, "plan")).toBe(join(home.repo, ".harness", "PLAN-Bound.md"));
    expect(await seam.statePath({ plan: "other" }, "plan")).toBe(
      join(home.repo, ".harness", "PLAN-other.md"),
    );
    expect(await seam.statePath({ plan: "PLAN.md" }, "plan")).toBe(join(home.repo, ".harness", "PLAN.md"));
  });

  test("creates no marker", async () => {
    const home = await SeamHome.make();
    await home.seam().statePath({}, "plan");
    await expect(access(join(home.repo, ".harness", "active-plan"))).rejects.toThrow("ENOENT");
  });
});
