/** Two years by a moved clock: what a plain, a renewed, a pinned and a short fact does, and what is said of its end, when and where. */
import { expect, onTestFinished, test, vi } from "vitest";
import type { SlashContext } from "../../plugin/openclaw-api.ts";
import { makeSlashCommand } from "../../plugin/slash-command.ts";
import type { ChatCommand } from "../../plugin/tool-names.ts";
import { DAY_MS, keysOf, NOW, openTestMemory, tempPlace } from "../app/fixtures/memories.ts";
import { runOnTerminal } from "../cli/terminal.ts";
import { HOUR_MS, letPass } from "../contract/rig.ts";
import { openRig, textOf } from "../pages/rig.ts";
import { MAIN_CONTEXT, policyFor, recordingLogger } from "../plugin/fake-host.ts";
import { accessTo } from "../plugin/fake-memory.ts";

const PERSON = { surface: "cli", isPerson: true } as const;

async function household(days: number) {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
  onTestFinished(() => void vi.useRealTimers());
  const place = await tempPlace();
  const memory = await openTestMemory({
    ...{ ...place, now: () => Date.now(), lifetimeDays: days },
  });
  const env = { HELMDECK_MEMORY_KEY_FILE: place.keyPath };
  const typed = async (...args: readonly string[]) => {
    const { stdout, stderr } = await runOnTerminal(
      [...args, "--db", place.databasePath, "--caller", "main"],
      {
        homeFolder: "/nowhere",
        env,
      },
    );
    return `${stdout}${stderr}`;
  };
  const host = { access: accessTo(memory), policy: policyFor({}), log: recordingLogger() };
  const chat = async (command: ChatCommand, args = "") =>
    `${(await makeSlashCommand(command, host).handler({ ...MAIN_CONTEXT, args } as object as SlashContext)).text}`;
  const { get } = await openRig({ memory });
  const page = async (path: string) => textOf(await get(path));
  return { memory, typed, chat, page };
}

/** Days since the store; which facts are there; how many end soon; what is said to have ended. */
type Row = readonly [day: number, there: string, ending: number, ended: string];
const SHORT = "1 fact ended in November 2026";
const BY_90: readonly Row[] = [
  [0, "pinned plain renewed short", 0, ""],
  [1, "pinned plain renewed short", 0, ""],
  [76, "pinned plain renewed", 2, `${SHORT}.`],
  [90, "pinned renewed", 0, `${SHORT}, 1 in February 2027.`],
  [91, "pinned renewed", 0, `${SHORT}, 1 in February 2027.`],
  [120, "pinned renewed", 0, `${SHORT}, 1 in February 2027.`],
  [351, "pinned", 1, `${SHORT}, 1 in February 2027, 1 in May 2027.`],
  [365, "", 0, `${SHORT}, 1 in February 2027, 1 in May 2027, 1 in November 2027.`],
  [366, "", 0, `${SHORT}, 1 in February 2027, 1 in May 2027, 1 in November 2027.`],
  [730, "", 0, "1 fact ended in November 2027."],
];
const BY_365: readonly Row[] = [
  [0, "pinned plain renewed short", 0, ""],
  [76, "pinned plain renewed", 0, `${SHORT}.`],
  [120, "pinned plain renewed", 0, `${SHORT}.`],
  [351, "pinned plain renewed", 3, `${SHORT}.`],
  [365, "renewed", 0, `${SHORT}, 2 in November 2027.`],
  [366, "renewed", 0, `${SHORT}, 2 in November 2027.`],
  [730, "", 0, "2 facts ended in November 2027, 1 in November 2028."],
];

// verifies P-ending-told, P-ended-counted
test.each([
  [90, BY_90],
  [365, BY_365],
] as const)(
  "with a default of %d days, a person is told once a day before, and for a year after",
  async (days, rows) => {
    const { memory, typed, chat, page } = await household(days);
    for (const key of ["plain", "renewed", "pinned", "short"])
      await memory.storeFact("main", {
        key,
        value: `Of ${key}.`,
        ...(key === "short" && { ttlSeconds: 172_800 }),
      });
    await memory.pinFact("main", { key: "pinned" }, PERSON);
    const renewed = { key: "renewed" };
    for (const [at, [day, there, ending, ended]] of rows.entries()) {
      vi.setSystemTime(NOW + day * DAY_MS + 60_000);
      expect([day, (await keysOf(memory)).join(" ")]).toEqual([day, there]);
      // Each surface is the first one on some day; the others are silent on that day.
      const ways = [() => typed("history", "none"), () => chat("undo"), () => page("/growth")];
      const said: string[] = [];
      for (let i = 0; i < ways.length; i += 1) said.push((await ways[(at + i) % ways.length]?.()) ?? "");
      const line = `${ending} ${ending === 1 ? "fact ends" : "facts end"} within 14 days. To keep ${ending === 1 ? "it" : "them"}: `;
      expect([day, said.map((one) => one.includes("within 14 days. To keep"))]).toEqual([
        day,
        [ending > 0, false, false],
      ]);
      if (ending > 0)
        expect(said[0]).toMatch(new RegExp(`${line}(helmdeck-memory|openclaw helmdeck) renew --expiring`));
      const tells = [
        typed("list"),
        typed("search", "zebra"),
        typed("status"),
        chat("memories"),
        chat("helmdeck", "status"),
      ];
      tells.push(page("/facts"), page("/facts?q=zebra"));
      for (const [which, text] of (await Promise.all(tells)).entries())
        expect([day, which, /\d+ facts? ended[^.]*\./.exec(text)?.[0] ?? ""]).toEqual([day, which, ended]);
      if (day === (days === 90 ? 76 : 351)) await memory.renewFact("main", renewed, PERSON);
      await letPass(
        memory.store,
        {
          get now() {
            return Date.now();
          },
          set now(time) {
            vi.setSystemTime(time);
          },
        },
        25 * HOUR_MS,
      );
    }
    expect(await memory.forget("main", { scope: "all" })).toMatchObject({ deleted: 1 });
    expect([await memory.listFacts("main", {}), await typed("list")]).toEqual([
      { facts: [], unreadable: [] },
      expect.not.stringContaining("ended"),
    ]);
  },
);
