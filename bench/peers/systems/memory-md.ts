/** All facts in MEMORY.md, which OpenClaw puts into each prompt. Asking reads what a turn's prompt holds of them. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { textOf } from "../../../test/gateway/stand-in-model.ts";
import type { FactLine } from "../../recall/conversations.ts";
import { Gateway } from "../gateway.ts";
import type { Answer, System } from "../system.ts";

export const memoryMd: System = {
  id: "memory-md",
  title: "MEMORY.md in the prompt",
  version: "OpenClaw's own",
  settings: "https://docs.openclaw.ai/concepts/memory",
  note: "Every question gets all of MEMORY.md, cut where OpenClaw cuts it. The order is the file's, so that only any@10 and all@10 can be compared, and they count all of it.",
  groups: ["recall", "care", "prompt"],
  async start(place) {
    const lines = (facts: readonly FactLine[]) => facts.map(lineOf).join("");
    const prompts = new Map<string, Answer>();
    const fileOf = (gateway: Gateway, agent: string) => join(gateway.workspaceOf(agent), "MEMORY.md");
    const gateway = await Gateway.start(place, {
      prepare: async (made) => {
        for (const [agent, facts] of Object.entries(place.memory))
          await made.write(agent, "MEMORY.md", `# Memory\n\n${lines(facts)}`);
      },
    });
    const change = async (agent: string, fact: FactLine, added: string) => {
      const text = await readFile(fileOf(gateway, agent), "utf8");
      const kept = text.split("\n").filter((line) => !line.startsWith(`- ${fact.key}: `));
      await writeFile(fileOf(gateway, agent), `${kept.join("\n").trimEnd()}\n${added}`);
      prompts.delete(agent);
    };
    const ask = async (agent: string) => {
      const known = prompts.get(agent);
      if (known !== undefined) return known;
      await gateway.say(agent, "memory-md", "hello");
      const system = textOf((await gateway.requests()).at(-1)?.messages[0] ?? { role: "system" });
      const written = (await readFile(fileOf(gateway, agent), "utf8")).split("\n");
      const shown = written.filter((line) => line.startsWith("- ") && system.includes(line));
      const answer = { hits: shown.map((text) => ({ text })), text: shown.join("\n") };
      prompts.set(agent, answer);
      return answer;
    };
    return {
      ...gateway.part(),
      ways: { "own tool": ask },
      store: (agent, fact) => change(agent, fact, lineOf(fact)),
      forget: (agent, fact) => change(agent, fact, ""),
      ready: () => Promise.resolve(),
    };
  },
};

function lineOf({ key, value }: FactLine): string {
  return `- ${key}: ${value.replaceAll("\n", " ")}\n`;
}
