/** OpenClaw's bundled wiki: many facts by its import of Open Knowledge Format, one by its tool; one page for each fact. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LOCKED_OPENCLAW } from "../../../scripts/openclaw-host/runtime.ts";
import type { FactLine } from "../../recall/conversations.ts";
import { Gateway } from "../gateway.ts";
import { keywordsOf, mergeHits } from "../mcp.ts";
import { noteName } from "../notes.ts";
import type { ShownHit, System } from "../system.ts";

export const memoryWiki: System = {
  id: "memory-wiki",
  title: "memory-wiki",
  version: `OpenClaw ${LOCKED_OPENCLAW.version}`,
  settings: "https://docs.openclaw.ai/plugins/memory-wiki",
  note: '`vault.scope: "agent"`, so that agents do not share a wiki (by default they do). `memory_search` is asked with `corpus: "all"`, as its page says. Its search wants every word of the query in one line, so its own tool is asked once for each word of the question; `memory_search` gets the question as a model would send it. It has no tool that deletes: a page\'s file is removed.',
  groups: ["recall", "costs", "care", "prompt"],
  async start(place) {
    const config = { vault: { scope: "agent" } };
    const gateway = await Gateway.start(place, {
      config: {
        plugins: {
          allow: ["memory-core", "memory-wiki"],
          entries: { "memory-wiki": { enabled: true, config } },
        },
      },
      prepare: async (made) => {
        for (const [agent, facts] of Object.entries(place.memory)) await importPages(made, agent, facts);
      },
    });
    return {
      ...gateway.part(),
      ways: {
        memory_search: (agent, question) => gateway.memorySearch(agent, question, { corpus: "all" }),
        "own tool": async (agent, question) => {
          const answers: string[] = [];
          for (const query of keywordsOf(question))
            answers.push((await gateway.invoke("wiki_search", { query }, agent)).text);
          return { hits: mergeHits(answers.map(hitsOf)), text: answers.join("\n") };
        },
      },
      store: async (agent, { key, value }) => {
        const page = { op: "create_synthesis", title: key, body: value, sourceIds: ["source.agent"] };
        await gateway.invoke("wiki_apply", page, agent);
      },
      forget: async (agent, fact) => {
        removePage(join(gateway.host.home.stateDir, "wiki", agent), fact.value);
        await gateway.command("wiki", "compile", ...agentOption(place.memory, agent));
      },
      ready: () => Promise.resolve(),
    };
  },
};

async function importPages(gateway: Gateway, agent: string, facts: readonly FactLine[]): Promise<void> {
  if (facts.length === 0) return;
  const folder = join(gateway.host.home.root, "okf", agent);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const fact of facts) {
    const { key, value, created_at: at } = fact;
    const head = `---\ntype: Fact\ntitle: ${JSON.stringify(key)}\ntimestamp: ${at}\n---\n`;
    writeFileSync(join(folder, noteName(fact)), `${head}\n${value}\n`);
  }
  await gateway.command("wiki", "okf", "import", folder, "--agent", agent);
}

function agentOption(memory: object, agent: string): readonly string[] {
  return Object.keys(memory).length > 1 ? ["--agent", agent] : [];
}

function removePage(vault: string, text: string): void {
  for (const name of readdirSync(vault, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".md")) continue;
    const path = join(vault, name);
    if (readFileSync(path, "utf8").includes(text)) rmSync(path);
  }
}

/** "1. Title (wiki/concept)\nPath: …\nSnippet: …" for each hit. */
function hitsOf(text: string): readonly ShownHit[] {
  return text.split(/^(?=\d+\. )/m).flatMap((hit) => {
    const [, key] = /^\d+\. (.*) \(wiki\//.exec(hit) ?? [];
    return key === undefined ? [] : [{ key, text: hit }];
  });
}
