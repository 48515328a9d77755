/** `openclaw helmdeck …` in a separate process beside the running gateway, and /helmdeck in a chat. */
import { beforeAll, describe, expect, it } from "vitest";
import { chat } from "./probes.ts";
import { helmdeckMemory, sharedOpenClaw } from "./shared.ts";

const openclaw = await sharedOpenClaw();
const KEY = "observatory/dome";
const VALUE = "The dome of the observatory opens to the north.";

beforeAll(async () => {
  await openclaw.invokeTool("helmdeck__memory_store", { key: KEY, value: VALUE, category: "places" });
});

describe.concurrent("openclaw helmdeck", () => {
  it("status shows the location and the size of memory", async () => {
    const { code, stdout } = await openclaw.openclaw(["helmdeck", "status", "--json"]);
    expect(code).toBe(0);
    const status = JSON.parse(stdout);
    expect(status).toMatchObject({ state: "ready", mode: "keyword", subject: { name: "main" } });
    expect(status.database_path).toBe(`${openclaw.home.stateDir}/helmdeck-memory/memory.sqlite`);
    expect(status.subject.facts).toBeGreaterThan(0);
  });

  it("list prints keys and values", async () => {
    const { stdout } = await openclaw.openclaw(["helmdeck", "list", "--category", "places"]);
    expect(stdout).toMatch(/^observatory\/dome .*places/m);
    expect(stdout).toContain(VALUE);
  });

  it("search finds the same as the agent", async () => {
    const { stdout } = await openclaw.openclaw(["helmdeck", "search", "observatory", "dome", "--json"]);
    expect(JSON.parse(stdout).results[0]).toMatchObject({ key: KEY, category: "places" });
  });

  it("forget asks first, and then deletes permanently, also for the gateway", async () => {
    const path = "helmdeck/leavings/observatory/old-dome.md";
    const fact = { key: "observatory/old-dome", value: "The old dome was copper.", category: "leavings" };
    await openclaw.invokeTool("helmdeck__memory_store", fact);
    const unasked = await openclaw.openclaw(["helmdeck", "forget", "category:leavings"]);
    expect(unasked.code).toBe(2);
    expect(unasked.stderr).toContain("--yes");
    expect((await openclaw.invokeTool("memory_get", { path })).details.status).toBe("ok");
    const forgotten = await openclaw.openclaw(["helmdeck", "forget", "category:leavings", "--yes"]);
    expect(forgotten.stdout).toContain("Deleted 1 fact of the category leavings");
    expect((await openclaw.invokeTool("memory_get", { path })).details.status).toBe("not_found");
  });

  it("doctor finds no error, and reports whether direct chats share a memory", async () => {
    const { code, stdout } = await openclaw.openclaw(["helmdeck", "doctor", "--json"]);
    expect(code).toBe(0);
    const { findings } = JSON.parse(stdout);
    const levels = new Set(findings.map((finding: { level: string }) => finding.level));
    expect(levels).not.toContain("error");
    const shared = findings.find(({ check }: { check: string }) => check === "direct chats");
    expect(shared).toMatchObject({ level: "ok", message: expect.stringContaining("dmScope") });
  });

  it("stores and reads like helmdeck-memory, in the agent's memory", async () => {
    const [key, path] = ["observatory/key", "helmdeck/user_facts/observatory/key.md"];
    const stored = await openclaw.openclaw(["helmdeck", "add", key, "The key hangs by the door."]);
    expect(stored).toMatchObject({ code: 0, stdout: expect.stringContaining(`Stored ${key} (user_facts)`) });
    expect((await openclaw.invokeTool("memory_get", { path })).text).toContain("by the door");
    const read = await openclaw.openclaw(["helmdeck", "get", key]);
    expect(read.stdout).toBe("The key hangs by the door.\n");
    expect((await helmdeckMemory(openclaw, "get", key)).stdout).toBe(read.stdout);
  });

  it("has its own help, error messages and exit codes", async () => {
    const [help, unknown] = await Promise.all([
      openclaw.openclaw(["helmdeck", "--help"]),
      openclaw.openclaw(["helmdeck", "serach", "x"]),
    ]);
    expect(help).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Usage: openclaw helmdeck [options]"),
    });
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean search?") });
  });

  it("an invalid agent name is refused", async () => {
    const { code, stderr } = await openclaw.openclaw(["helmdeck", "status", "--agent", "../main"]);
    expect(code).toBe(2);
    expect(stderr).toContain("invalid_input: --agent");
  });
});

describe("memory in a chat, without a model", () => {
  const session = "agent:main:telegram:direct:42";

  it("is stored, listed, found, restored and forgotten", async () => {
    const stored = await chat(openclaw, session, "/remember The telescope points at Saturn tonight");
    expect(stored).toContain("Remembered as telescope-points-saturn-tonight, until");
    expect(await chat(openclaw, session, "/memories")).toContain(
      "- telescope-points-saturn-tonight: The telescope points at Saturn tonight",
    );
    expect(await chat(openclaw, session, "/memories telescope saturn")).toContain("points at Saturn tonight");
    const moved = "/remember telescope-points-saturn-tonight = It points at Mars";
    const undo = "/undo telescope-points-saturn-tonight";
    expect(await chat(openclaw, session, moved)).toContain(`To restore that: ${undo}`);
    expect(await chat(openclaw, session, undo)).toContain("Restored: telescope-points-saturn-tonight");
    expect(await chat(openclaw, session, "/memories telescope saturn")).toContain("points at Saturn tonight");
    const asked = await chat(openclaw, session, "/forget category:user_facts");
    expect(asked).toContain("This would delete ");
    expect(asked).toContain("/forget category:user_facts --yes");
    const gone = await chat(openclaw, session, "/forget telescope-points-saturn-tonight");
    expect(gone).toContain("Forgot the fact telescope-points-saturn-tonight, for good");
    expect(await chat(openclaw, session, "/memories")).not.toContain("telescope-points");
  });

  it.each(["/remember a = b", "/forget all --yes", "/memories"])(
    "%s is refused in a group",
    async (typed) => {
      const reply = await chat(openclaw, "agent:main:telegram:group:-100777", typed);
      expect(reply).toContain("memory is closed to groups");
    },
  );
});

describe("/helmdeck in a chat", () => {
  it("shows the status, searches, and explains itself", async () => {
    const session = "agent:main:explicit:commands";
    expect(await chat(openclaw, session, "/helmdeck status")).toContain("helmdeck memory: ready");
    expect(await chat(openclaw, session, "/helmdeck dance")).toContain("/helmdeck search <words>");
    expect(await chat(openclaw, session, "/helmdeck search zyzzyva quodlibet")).toContain("Nothing found");
  });
});
