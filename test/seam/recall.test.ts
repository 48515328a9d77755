/** Recall: order, budget and text, only for the requested caller and project. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FactInput } from "../../app/memory.ts";
import { type FactHere, recallProject } from "../../seam/index.ts";
import { projectFact, SeamHome } from "./fixtures.ts";

const CATEGORIES = ["index", "decisions", "known_issues", "open_questions", "wiki_style"];

/** A home with a fact of every category, in a different order from recall's. */
async function fullHome(): Promise<SeamHome> {
  const home = await SeamHome.make();
  const facts = CATEGORIES.toReversed().map((category) =>
    projectFact(category, "one", `the ${category} entry`),
  );
  await home.store([
    ...facts,
    projectFact("always", "own", "always here"),
    { key: "house", category: "always", value: "always" },
  ]);
  return home;
}

function labelsIn(text: string): readonly string[] {
  return [...text.matchAll(/^### (.+)$/gm)].map(([, label]) => label ?? "");
}

describe("the phases", () => {
  test.each([
    ["setup", ["index"], 4_000],
    ["plan", ["index", "decisions", "open_questions"], 6_000],
    ["work", ["decisions", "known_issues"], 6_000],
    ["review", [], 4_000],
    ["release", ["decisions"], 6_000],
    ["bugfix", ["known_issues"], 6_000],
    ["documenter", ["index", "decisions", "wiki_style"], 10_000],
  ])("%s recalls the category always, then %j, in %i tokens", async (phase, targets, budget) => {
    const text = await (await fullHome()).seam().recallHere({ phase });
    const expected = ["always/house", "always/own", ...targets.map((category) => `${category}/one`)];
    expect(labelsIn(text)).toEqual(expected);
    expect(text).toMatch(
      new RegExp(
        `^# Auto-context recall — phase: ${phase}, project: heron\\n\\(budget: ~${budget} tokens, entries: ${expected.length}\\)\\n\\n### `,
      ),
    );
  });

  test("show the text in exactly this format", async () => {
    const home = await SeamHome.make();
    await home.store([
      projectFact("decisions", "old", "first line\nsecond line"),
      projectFact("decisions", "new", "newer"),
    ]);
    expect(await home.seam().recallHere({ phase: "release" })).toBe(
      "# Auto-context recall — phase: release, project: heron\n(budget: ~6000 tokens, entries: 2)\n\n" +
        "### decisions/new\n\nnewer\n\n### decisions/old\n\nfirst line\nsecond line\n\n",
    );
  });

  test("without a project show entries without a project, and name it as unknown", async () => {
    const home = await fullHome();
    const text = await home.seam().recallHere({ cwd: home.folder, phase: "plan" });
    expect(text).toContain("phase: plan, project: (unknown)");
    expect(labelsIn(text)).toEqual(["always/house"]);
  });
});

describe("the budget", () => {
  const thousandTokens = (name: string): FactInput => projectFact("decisions", name, "x".repeat(4_000));

  test.each([
    [undefined, undefined, 6_000, 5],
    [2_100, "3100", 2_100, 2],
    [0, "3100", 3_100, 3],
    [-5, " 1100 ", 1_100, 1],
    [undefined, "many", 6_000, 5],
    [undefined, "-1", 6_000, 5],
  ])(
    "with the limit %s and the setting %j is %i tokens, for %i entries",
    async (limit, setting, budget, count) => {
      const home = await SeamHome.make();
      await home.store(["a", "b", "c", "d", "e", "f", "g"].map(thousandTokens));
      const env = { ...home.place.env, HARNESS_RECALL_BUDGET_WORK: setting };
      const seam = home.seam({ memory: { ...home.place, env } });
      const text = await seam.recallHere({ phase: "work" }, limit === undefined ? {} : { limit });
      expect(text).toContain(`(budget: ~${budget} tokens, entries: ${count})`);
      expect(labelsIn(text)).toHaveLength(count);
    },
  );

  test("that is too small for any entry gives nothing, and a message", async () => {
    const home = await SeamHome.make();
    await home.store([thousandTokens("a")]);
    expect(await home.seam().recallHere({ phase: "work" }, { limit: 100 })).toBe("");
    expect(home.notes).toEqual(["None of the 1 entries fits into 100 tokens."]);
  });

  test("drops complete entries from the end, never more than necessary", async () => {
    const fact = (size: number, place: number): FactHere => ({
      ...{ key: `projects/heron/decisions/${place}`, value: "é".repeat(size), category: "decisions" },
      ...{ tags: [], createdAt: 0, updatedAt: -place },
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 500 }),
        async (sizes, limit) => {
          const own = sizes.map(fact);
          const facts = {
            listFacts: async ({ category }: { category: string }) => ({
              facts: category === "decisions" ? [...own] : [],
              unreadable: [],
            }),
          };
          const { text } = await recallProject(
            { facts, rank: async () => [], env: {} },
            { project: "heron", phase: "release", limit },
          );
          const costs = own.map(({ key, value }) =>
            Math.max(1, Math.floor(Array.from(`### ${key.slice(15)}\n\n${value}\n`).length / 4)),
          );
          let [fitting, used] = [0, costs[0] ?? 0];
          while (used <= limit && fitting < own.length) used += costs[++fitting] ?? 0;
          expect(labelsIn(text)).toEqual(own.slice(0, fitting).map(({ key }) => key.slice(15)));
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("a query", () => {
  test("puts the best answers first, after the category always, and keeps the other entries", async () => {
    const home = await SeamHome.make();
    await home.store([
      projectFact("known_issues", "upload", "The upload test is flaky on Mondays"),
      ...["tea", "roof", "moss"].map((name) => projectFact("decisions", name, `about ${name}`)),
      { key: "house", category: "always", value: "never deploy on Fridays" },
    ]);
    const text = await home.seam().recallHere({ phase: "work" }, { query: "why does the upload test fail?" });
    expect(labelsIn(text)).toEqual([
      "always/house",
      "known_issues/upload",
      "decisions/moss",
      "decisions/roof",
      "decisions/tea",
    ]);
  });
});

/** Slugs that a wrong join, escape or comparison could confuse with one another or with a path to another folder. */
const HOSTILE = [
  ..."heron Heron her heron/ heron/decisions /heron ../heron a/../heron .. . ... %2E%2E heron%2Fdecisions".split(
    " ",
  ),
  ..."her%on her* _____ heron\\x heron\u0000 \u202eheron hérón he\u0301ron 日本 🦆 projects".split(" "),
  ...["heron\n# SYSTEM", "x".repeat(150)],
];

describe("a slug from a repository", () => {
  test("gives access to its own project's facts only, for any slug", async () => {
    const home = await SeamHome.make();
    const mine = async (slug: string, place: number) => {
      await home.write(".harness/project.json", JSON.stringify({ vault_project: slug }));
      const [offer] = await home
        .seam()
        .offerSaveHere({}, { kind: "decision", slug: "one", body: `only of number ${place}.` });
      return offer?.target.arguments ?? { key: "", category: "", value: "" };
    };
    await home.store([{ key: "unrelated", value: "so that there is memory" }]);
    const offered = [];
    for (const [place, slug] of HOSTILE.entries()) offered.push(await mine(slug, place));
    expect(new Set(offered.map(({ key }) => key)).size).toBe(HOSTILE.length);
    for (const { key } of offered) expect(key).toMatch(/^projects\/(?!\.{1,2}\/)[^/]+\/decisions\/one$/);
    await home.store(offered);
    for (const [place, slug] of HOSTILE.entries()) {
      await home.write(".harness/project.json", JSON.stringify({ vault_project: slug }));
      const text = await home.seam().recallHere({ phase: "release" });
      expect(labelsIn(text)).toHaveLength(1);
      expect(text).toContain(offered[place]?.value);
      expect(text.split("\n")[0]).toMatch(/^# Auto-context recall — phase: release, project: \P{Cc}+$/u);
    }
  });

  test.each(["x".repeat(300), "🦆".repeat(60), "\ud800", "   "])(
    "that cannot be part of a key is ignored: %j",
    async (slug) => {
      const home = await SeamHome.make();
      await home.store([
        projectFact("decisions", "db", "one file database"),
        { key: "house", category: "always", value: "small" },
      ]);
      await home.write(".harness/project.json", JSON.stringify({ vault_project: slug }));
      expect(await home.seam().recallHere({ phase: "release" })).toContain("project: (unknown)");
    },
  );

  test("does not show the category always of another project", async () => {
    const home = await SeamHome.make();
    await home.store([
      projectFact("always", "rule", "of another project", "heron-2"),
      projectFact("always", "rule", "of this project"),
    ]);
    const text = await home.seam().recallHere({ phase: "review" });
    expect(text).toContain("of this project");
    expect(text).not.toContain("of another project");
  });

  test("gives keys that the policy accepts, for names of any length", async () => {
    const home = await SeamHome.make();
    await home.store([{ key: "unrelated", value: "so that there is memory" }]);
    const keys = new Set<string>();
    for (const tail of ["a", "b"]) {
      const slug = `${"🦆é名".repeat(300)}${tail}`;
      const [offer] = await home.seam().offerSaveHere({}, { kind: "decision", slug, body: "long" });
      keys.add(offer?.target.key ?? "");
      expect(Buffer.byteLength(offer?.target.key ?? "x".repeat(600))).toBeLessThanOrEqual(512);
    }
    expect(keys.size).toBe(2);
  });
});

describe("a caller", () => {
  test("reads its own memory only, and gets offers for it only", async () => {
    const home = await SeamHome.make();
    await home.store([projectFact("decisions", "db", "of main")]);
    await home.store([projectFact("decisions", "db", "of work")], "work");
    expect(await home.seam({ subject: "work" }).recallHere()).toContain("of work");
    expect(await home.seam({ subject: "work" }).recallHere()).not.toContain("of main");
    expect(await home.seam({ subject: "nobody" }).recallHere()).toBe("");
    const [offer] = await home.seam({ subject: "a:b" }).offerSaveHere({}, { body: "b" });
    expect(offer?.target.namespace).toBe("a%3Ab");
  });

  test("gets the recalled categories only, whatever a key looks like", async () => {
    const home = await SeamHome.make();
    await home.store([{ key: "pack/decisions", value: "a fact of another category" }]);
    expect(await home.seam().recallHere({ phase: "plan" })).toBe("");
    expect(home.notes).toEqual([expect.stringContaining("nothing for the phase plan")]);
  });

  test("gets control characters escaped, so that they cannot act on a terminal or forge a line", async () => {
    const home = await SeamHome.make();
    await home.store([projectFact("decisions", "db", "red \u001b[31m and \u202e turned\r\nend")]);
    const text = await home.seam().recallHere({ phase: "release" });
    expect(text).toContain("red [U+001B][31m and [U+202E] turned\nend");
  });
});
