/** The plan of an uninstallation, from the journal and the state of OpenClaw's index of its notes. */
import { describe, expect, it } from "vitest";
import type { Facts } from "../../install/installation-facts.ts";
import { makePlan } from "../../install/plan/make-plan.ts";
import { FACTS, INSTALLED, options, withJournal, withOpenClaw } from "./fixtures.ts";

const kinds = (facts: Facts, ...args: string[]) =>
  makePlan(facts, options(...args)).steps.map(({ kind }) => kind);

// verifies P-install-undone
describe("an uninstallation", () => {
  it("takes back what the journal says, byte for byte when nobody wrote since", () => {
    expect(kinds(INSTALLED, "--uninstall")).toEqual([
      "uninstall-plugin",
      "restore-config-copy",
      "index-notes",
      "stop-sidecar",
      "remove-network",
      "forget-journal",
    ]);
  });

  it("takes back key by key when somebody wrote since", () => {
    const facts = withJournal({ configIsAsLeft: false });
    const steps = kinds(facts, "--uninstall");
    expect(steps.slice(0, 3)).toEqual(["restore-facts", "restore-search", "uninstall-plugin"]);
    expect(steps).not.toContain("restore-config-copy");
  });

  it("keeps data without --purge, and leaves a plugin that was there before", () => {
    expect(kinds(INSTALLED, "--uninstall")).not.toContain("delete-memory");
    expect(kinds(INSTALLED, "--uninstall", "--purge")).toContain("delete-memory");
    const facts = withJournal({ installedPlugin: false });
    expect(kinds(facts, "--uninstall")).not.toContain("uninstall-plugin");
  });

  it("clears away what a killed uninstallation left of the plugin", () => {
    const steps = (facts: Facts) =>
      makePlan(facts, options("--uninstall")).steps.filter(({ kind }) => kind === "uninstall-plugin");
    expect(steps(INSTALLED)).toMatchObject([{ isThere: true }]);
    expect(steps(withOpenClaw({ installed: "absent" }, INSTALLED))).toMatchObject([{ isThere: false }]);
  });

  it("waits for a configuration that OpenClaw accepts, and goes on where OpenClaw is gone", () => {
    const broken = { state: "broken", target: { kind: "host" }, reason: "not valid" } as const;
    const plan = makePlan({ ...INSTALLED, openclaw: broken }, options("--uninstall"));
    expect([plan.steps, plan.unmet.length]).toEqual([[], 1]);
    expect(kinds({ ...INSTALLED, openclaw: { state: "missing" } }, "--uninstall")).toEqual([
      "stop-sidecar",
      "remove-network",
      "forget-journal",
    ]);
  });

  it("removes the network also where no sidecar is left on it", () => {
    expect(kinds(withJournal({ startedSidecar: false }), "--uninstall").slice(-2)).toEqual([
      "remove-network",
      "forget-journal",
    ]);
  });

  it("has nothing to do where nothing was installed", () => {
    expect(kinds(FACTS, "--uninstall")).toEqual([]);
  });
});

describe("OpenClaw's index of its own notes", () => {
  const stuck = [{ agentId: "main", isChosen: false }];
  const index = (facts: Facts, ...args: string[]) =>
    makePlan(facts, options(...args)).steps.filter(({ kind }) => kind === "index-notes");
  const due = (facts: Facts): Facts =>
    withJournal({ target: { kind: "host" }, indexDue: true, search: undefined }, facts);

  it("is made anew once the former provider is back, when the gateway has let go of ours", () => {
    for (const mode of ["--uninstall", "--no-embeddings"]) {
      expect(index(INSTALLED, mode)).toMatchObject([{ mustWork: false, awaitsGateway: true }]);
      const stopped = withOpenClaw({ gateway: "stopped" }, INSTALLED);
      expect(index(stopped, mode)).toMatchObject([{ awaitsGateway: false }]);
    }
    expect(index(FACTS)).toMatchObject([{ mustWork: true, awaitsGateway: false }]);
  });

  it("is made anew by the next run, whichever that is, after one that was killed in between", () => {
    for (const mode of ["--uninstall", "--no-embeddings", "--repair"])
      expect(index(due(INSTALLED), mode)).toHaveLength(1);
    const pointed = withJournal({ indexDue: true });
    expect(index(pointed)).toMatchObject([{ mustWork: true }]);
    expect(kinds(due(FACTS), "--uninstall").at(-1)).toBe("forget-journal");
  });

  it("that an earlier version left behind is mended where this program is or goes, and told of elsewhere", () => {
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

  it("of a provider that somebody chose is made anew only when asked for by name", () => {
    const theirs = withOpenClaw({ unfitIndexes: [{ agentId: "main", isChosen: true }] });
    expect(makePlan(theirs, options("--uninstall"))).toMatchObject({ steps: [], warnings: [] });
    expect(index(theirs, "--no-embeddings")).toEqual([]);
    expect(index(theirs, "--repair")).toHaveLength(1);
  });

  it("has nothing to repair where it fits, and needs no gateway's token for it", () => {
    expect(kinds(withOpenClaw({ unfitIndexes: [] }), "--repair")).toEqual([]);
    const locked = withOpenClaw({ unfitIndexes: stuck, gateway: { variable: "T", problem: "missing" } });
    expect(index(locked, "--repair")).toHaveLength(1);
  });
});
