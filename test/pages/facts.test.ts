/** The list of facts, a search, and the page of one fact. */
import { describe, expect, test } from "vitest";
import { inTurn } from "../app/fixtures/memories.ts";
import { BASE, FORMS, nextOf, openRig, textOf } from "./rig.ts";

const DEPLOY = {
  key: "deploy/preference",
  value: "We deploy through Konflux,\nnever on Fridays.",
  tags: ["ci"],
};

describe("facts", () => {
  test("show how to store something if memory is empty", async () => {
    const rig = await openRig();
    expect(textOf(await rig.get("/facts"))).toContain(
      "Nothing has been stored yet. Tell your agent: “Remember that",
    );
    expect(textOf(await rig.get("/facts"))).toContain('openclaw helmdeck store KEY "the text" --agent work');
    const withForms = await openRig({ changes: FORMS });
    expect(textOf(await withForms.get("/"))).toContain("Or press “Remember something” above.");
  });

  test("name the subject of an empty memory without sign-in, and how to see another one", async () => {
    const { signOutPath: _, ...changes } = FORMS;
    const rig = await openRig({ changes, subject: "unknown" });
    for (const path of ["/facts", "/facts?q=zebra"]) {
      const text = textOf(await rig.get(path));
      expect(text).toContain("this is the memory of unknown, not of your agent.");
      expect(text).toContain("helmdeck-memory token --subject main");
    }
  });

  test("are listed newest first, with their first words, category and times", async () => {
    const rig = await openRig();
    await rig.memory.storeFact("main", DEPLOY);
    rig.clock.pass(3 * 3_600_000);
    await rig.memory.storeFact("main", { key: "wifi", value: "Kolibri ".repeat(60), category: "home" });
    rig.clock.pass(60_000);
    const text = textOf(await rig.get("/facts"));
    expect(text).toContain("2 facts");
    expect(text).toMatch(
      /Kolibri .*… wifi home stored .* We deploy through Konflux, never on Fridays\. deploy\/preference ci stored/,
    );
    expect(text).toContain("Kolibri… wifi home stored 1 minute ago expires in 90 days");
    expect(text).toContain("stored 3 hours ago");
  });

  test("are listed with their first tags, each of which lists the facts that have it", async () => {
    const rig = await openRig({ changes: FORMS });
    const tags = ["a&b", "two", "three", "four", "five"];
    await rig.memory.storeFact("main", { ...DEPLOY, tags });
    await rig.memory.storeFact("main", { key: "wifi", value: "Kolibri" });
    const page = await rig.get("/facts");
    expect(textOf(page)).toContain("deploy/preference a&b two three four and 1 more stored");
    expect(page.text).toContain(`href="${BASE}/facts?tag=a%26b"`);
    const filtered = await rig.get("/facts?tag=a%26b");
    expect(textOf(filtered)).toContain("deploy/preference");
    expect(textOf(filtered)).not.toContain("Kolibri");
    expect(filtered.text).toContain('<input type="text" name="tag" value="a&amp;b"');
  });

  test("have the button that forgets apart from the one that remembers", async () => {
    const rig = await openRig({ changes: FORMS });
    expect(textOf(await rig.get("/facts"))).not.toContain("Forget several");
    await rig.memory.storeFact("main", DEPLOY);
    expect(textOf(await rig.get("/facts"))).toMatch(
      /Remember something .*deploy\/preference.* Forget several…/,
    );
  });

  test("are listed fifty to a page, each once", async () => {
    const rig = await openRig();
    await inTurn([...Array(120).keys()], async (number) => {
      rig.clock.pass(1);
      await rig.memory.storeFact("main", {
        key: `k-${number}`,
        value: "x",
        category: number % 2 ? "odd" : "even",
      });
    });
    const seen: string[] = [];
    const pages: number[] = [];
    let next: string | undefined = "/facts?category=odd";
    while (next !== undefined) {
      const page = await rig.get(next);
      const keys = [...page.text.matchAll(/fact\?key=(k-\d+)"/g)].map(([, key = ""]) => key);
      pages.push(keys.length);
      seen.push(...keys);
      next = nextOf(page);
    }
    expect(pages).toEqual([50, 10]);
    expect(seen).toEqual([...Array(60).keys()].map((at) => `k-${119 - 2 * at}`));
  });
});
