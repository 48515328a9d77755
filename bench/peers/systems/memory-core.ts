/** OpenClaw's own search of its notes: by keywords, and with the shared embedder. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installModel } from "../../../model/artefact.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { NOTES_PLUGIN_ID, NOTES_PROVIDER } from "../../../plugin/notes/notes-names.ts";
import { MODEL_DIST } from "../../../scripts/build/build.ts";
import type { JsonObject } from "../../../scripts/openclaw-host/openclaw-host.ts";
import { LOCKED_OPENCLAW } from "../../../scripts/openclaw-host/runtime.ts";
import { packNotesPlugin } from "../../../scripts/pack-notes.ts";
import { EMBEDDER_MODEL } from "../embedder.ts";
import { Gateway } from "../gateway.ts";
import { noteName, noteText, removeNote } from "../notes.ts";
import type { Place, Running, System } from "../system.ts";

const COMMON = {
  version: `OpenClaw ${LOCKED_OPENCLAW.version}`,
  settings: "https://docs.openclaw.ai/reference/memory-config",
};

export const memoryCore: System = {
  ...COMMON,
  id: "memory-core",
  title: "memory-core, keywords",
  note: '`memory.search.provider: "none"`. Its own tool is `memory_search`.',
  groups: ["recall", "costs", "care", "prompt"],
  start: (place) => startNotes(place, { search: { provider: "none" } }),
};

export const memoryCoreEmbedder: System = {
  ...COMMON,
  id: "memory-core-embedder",
  title: "memory-core, shared embedder",
  note: '`memory.search.provider: "openai-compatible"`. Its own tool is `memory_search`.',
  groups: ["recall", "costs", "care", "provider"],
  hasVectors: true,
  start: (place) => startNotes(place, { search: embedderSearch(place) }),
};

/** The same search, embedded by helmdeck's second plugin. */
export const helmdeckNotes: System = {
  id: "helmdeck-notes",
  title: "memory-core, helmdeck's notes plugin",
  version: packageJson.version,
  settings: "docs/howto/openclaw-notes.md",
  note: "OpenClaw's own notes and search, embedded in its process by the model that helmdeck ships.",
  groups: ["recall", "costs"],
  hasVectors: true,
  start: (place) => {
    const plugins = { allow: ["memory-core", NOTES_PLUGIN_ID] };
    return startNotes(place, { search: { provider: NOTES_PROVIDER } }, plugins, async ({ host }) => {
      await installModel(MODEL_DIST, host.home.stateDir);
      const folder = mkdtempSync(join(tmpdir(), "helmdeck-notes-"));
      try {
        await host.installPlugin(await packNotesPlugin(folder));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  },
};

function embedderSearch({ embedder }: Place): JsonObject {
  return { provider: "openai-compatible", model: EMBEDDER_MODEL, remote: { baseUrl: `${embedder.url}/v1` } };
}

async function startNotes(
  place: Place,
  memory: JsonObject,
  plugins: JsonObject = {},
  prepare: (gateway: Gateway) => Promise<void> = async () => undefined,
): Promise<Running> {
  const gateway = await Gateway.start(place, {
    config: { memory, plugins },
    prepare: async (made) => {
      await prepare(made);
      for (const [agent, facts] of Object.entries(place.memory))
        for (const fact of facts) await made.write(agent, `memory/${noteName(fact)}`, noteText(fact));
      if (Object.values(place.memory).some(({ length }) => length > 0)) await made.command("memory", "index");
    },
  });
  const changed = new Set<string>();
  return {
    ...gateway.part(),
    ways: { memory_search: (agent, question) => gateway.memorySearch(agent, question) },
    store: (agent, fact) => {
      changed.add(agent);
      return gateway.write(agent, `memory/${noteName(fact)}`, noteText(fact));
    },
    forget: async (agent, fact) => {
      changed.add(agent);
      removeNote(`${gateway.workspaceOf(agent)}/memory`, fact);
    },
    ready: async (agent) => {
      if (changed.delete(agent)) await gateway.command("memory", "index", "--agent", agent);
    },
  };
}
