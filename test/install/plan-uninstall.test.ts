/** The plan of an uninstallation, from the journal and the state of OpenClaw's index of its notes. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { defined } from "../../engine/defined.ts";
import type { Facts } from "../../install/installation-facts.ts";
import { makePlan } from "../../install/plan/make-plan.ts";
import { countFacts, deleteMemory } from "../../install/steps/delete-memory.ts";
import type { StepContext } from "../../install/steps/step-definition.ts";
import { openTestMemory, tempPlace } from "../app/fixtures/memories.ts";
import { FACTS, INSTALLED, kinds, options, withJournal, withOpenClaw } from "./fixtures.ts";

// verifies P-install-undone
describe("an uninstallation", () => {
  const END = "index-notes stop-sidecar remove-network";
  it.each<[string, Facts, string, string]>([
    ["byte for byte", INSTALLED, "", `uninstall-plugin restore-config-copy ${END} forget-journal`],
    [
      "by single settings if the configuration changed since",
      withJournal({ configIsAsLeft: false }),
      "",
      `restore-facts restore-search uninstall-plugin ${END} forget-journal`,
    ],
    [
      "with its data if --purge says so",
      INSTALLED,
      "--purge",
      `uninstall-plugin restore-config-copy ${END} delete-memory forget-journal`,
    ],
    [
      "but not a plugin that was installed before",
      withJournal({ installedPlugin: false }),
      "",
      `restore-config-copy ${END} forget-journal`,
    ],
    [
      "with the network also if it started no sidecar",
      withJournal({ startedSidecar: false }),
      "",
      "uninstall-plugin restore-config-copy index-notes remove-network forget-journal",
    ],
    [
      "also if OpenClaw is no longer installed",
      { ...INSTALLED, openclaw: { state: "missing" } },
      "",
      "stop-sidecar remove-network forget-journal",
    ],
    ["and nothing else", FACTS, "", ""],
  ])("undoes what the journal records, %s", (_, facts, more, steps) => {
    expect(kinds(facts, "--uninstall", ...more.split(" ").filter(Boolean)).join(" ")).toBe(steps);
  });

  it("deletes no memory that is not there, and says so", () => {
    expect(makePlan(FACTS, options("--uninstall", "--purge"))).toMatchObject({
      steps: [],
      warnings: ["There is no memory to delete: neither /home/u/m.sqlite nor its key /home/u/m.key exists."],
    });
    expect(makePlan(FACTS, options("--uninstall")).warnings).toEqual([]);
  });

  it("removes what a killed uninstallation left of the plugin", () => {
    const steps = (facts: Facts) =>
      makePlan(facts, options("--uninstall")).steps.filter(({ kind }) => kind === "uninstall-plugin");
    expect(steps(INSTALLED)).toMatchObject([{ isThere: true }]);
    expect(steps(withOpenClaw({ installed: "absent" }, INSTALLED))).toMatchObject([{ isThere: false }]);
  });

  it("requires a configuration that OpenClaw accepts", () => {
    const broken = { state: "broken", target: { kind: "host" }, reason: "not valid" } as const;
    const plan = makePlan({ ...INSTALLED, openclaw: broken }, options("--uninstall"));
    expect([plan.steps, plan.unmet.length]).toEqual([[], 1]);
  });
});

describe("OpenClaw's index of its own notes", () => {
  const stuck = [{ agentId: "main", isChosen: false }];
  const index = (facts: Facts, ...args: string[]) =>
    makePlan(facts, options(...args)).steps.filter(({ kind }) => kind === "index-notes");
  const due = (facts: Facts): Facts =>
    withJournal({ target: { kind: "host" }, indexDue: true, search: undefined }, facts);

  it("is rebuilt after the former provider is restored and the gateway no longer uses ours", () => {
    for (const mode of ["--uninstall", "--no-embeddings"]) {
      expect(index(INSTALLED, mode)).toMatchObject([{ mustWork: false, awaitsGateway: true }]);
      const stopped = withOpenClaw({ gateway: "stopped" }, INSTALLED);
      expect(index(stopped, mode)).toMatchObject([{ awaitsGateway: false }]);
    }
    expect(index(FACTS)).toMatchObject([{ mustWork: true, awaitsGateway: false }]);
  });

  it("is rebuilt by any next run if the last one was killed before it", () => {
    for (const mode of ["--uninstall", "--no-embeddings", "--repair"])
      expect(index(due(INSTALLED), mode)).toHaveLength(1);
    const pointed = withJournal({ indexDue: true });
    expect(index(pointed)).toMatchObject([{ mustWork: true }]);
    expect(kinds(due(FACTS), "--uninstall").at(-1)).toBe("forget-journal");
  });

  it("is repaired after an earlier version if the plugin is installed or removed now, and reported otherwise", () => {
    const left = withOpenClaw({ unfitIndexes: stuck }, withJournal({ search: undefined }));
    expect(index(left, "--uninstall")).toHaveLength(1);
    expect(index(left, "--no-embeddings")).toHaveLength(1);
    const gone = withOpenClaw({ unfitIndexes: stuck });
    expect(makePlan(gone, options("--uninstall"))).toMatchObject({
      steps: [],
      warnings: [expect.stringContaining("install.sh --repair")],
    });
    expect(makePlan(gone, options("--repair")).steps).toMatchObject([
      { kind: "index-notes", mustWork: true },
    ]);
  });

  it("is rebuilt for the operator's own provider only with --repair", () => {
    const theirs = withOpenClaw({ unfitIndexes: [{ agentId: "main", isChosen: true }] });
    expect(makePlan(theirs, options("--uninstall"))).toMatchObject({ steps: [], warnings: [] });
    expect(index(theirs, "--no-embeddings")).toEqual([]);
    expect(index(theirs, "--repair")).toHaveLength(1);
  });

  it("needs no repair if it fits, and a repair needs no gateway token", () => {
    expect(kinds(withOpenClaw({ unfitIndexes: [] }), "--repair")).toEqual([]);
    const locked = withOpenClaw({ unfitIndexes: stuck, gateway: { variable: "T", problem: "missing" } });
    expect(index(locked, "--repair")).toHaveLength(1);
  });
});

describe("what would be deleted", () => {
  it("is said with how many facts go, of all callers, or without the number if nobody knows", async () => {
    const place = await tempPlace();
    const memory = await openTestMemory(place);
    await memory.storeFact("main", { key: "tea", value: "Oolong" });
    await memory.storeFact("work", { key: "tea", value: "Sencha" });
    await memory.close();
    expect(await countFacts(place, {})).toBe(2);
    const title = (facts?: number) =>
      deleteMemory.title({ kind: "delete-memory", ...place, ...defined({ facts }) });
    expect([title(2), title(1), title()]).toEqual([
      expect.stringMatching(/^delete the memory for good, with all 2 facts \(/),
      expect.stringMatching(/^delete the memory for good, with its only fact \(/),
      expect.stringMatching(/^delete the memory for good \(/),
    ]);
    await rm(place.keyPath);
    expect(await countFacts(place, {})).toBeUndefined();
  });
});

// verifies P-disk-own-names
describe("deleting the memory", () => {
  it.each([
    ["all of the folder that the plugin made", "helmdeck-memory.key", []],
    ["no more than the memory's own files in another folder of that name", "keys/memory.key", ["notes.md"]],
  ])("deletes %s", async (_, key, left) => {
    const root = await mkdtemp(join(tmpdir(), "helmdeck-purge-"));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    const folder = join(root, "helmdeck-memory");
    await mkdir(folder);
    const files = ["memory.sqlite", "memory.sqlite-wal", "memory.sqlite-reserve.tmp", "notes.md"];
    for (const name of files) await writeFile(join(folder, name), "");
    const places = { databasePath: join(folder, "memory.sqlite"), keyPath: join(root, key) };
    await deleteMemory.run({ kind: "delete-memory", ...places }, {} as StepContext); // it asks nothing of it
    expect(await readdir(folder).catch(() => [])).toEqual(left);
  });
});
