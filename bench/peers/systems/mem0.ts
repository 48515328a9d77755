/** mem0's plugin, self-hosted: only what it costs, because it stores what a language model makes of a message. */

import { EMBEDDER_MODEL } from "../embedder.ts";
import { Gateway } from "../gateway.ts";
import { npmArchive } from "../installed.ts";
import type { System } from "../system.ts";

const NAME = "@mem0/openclaw-mem0";
const VERSION = "1.0.16";
const PLUGIN = "openclaw-mem0";

export const mem0: System = {
  id: "mem0",
  title: "mem0",
  version: VERSION,
  settings: "https://docs.mem0.ai/integrations/openclaw",
  note: 'Only what it costs: it stores what a language model makes of a message, and this bench has none. `mode: "open-source"` with the shared embedder. Its SQLite store needs `better-sqlite3`, whose binary is no part of its npm package: the install script downloads or compiles it, and this bench runs no install scripts. So nothing could be stored, and there are no figures of the disk and of agents. Its telemetry is off: it leaves the machine, and the id that it writes into OpenClaw\'s settings ends the first start of a gateway.',
  groups: ["costs"],
  async start(place) {
    const { path, cache } = await npmArchive(NAME, VERSION);
    const ollama = (model: string) => ({ provider: "ollama", config: { model, url: place.embedder.url } });
    const config = {
      mode: "open-source",
      userId: "bench",
      oss: { llm: ollama("none"), embedder: ollama(EMBEDDER_MODEL) },
    };
    const gateway = await Gateway.start(place, {
      // OpenClaw replaces some dependencies by others, which npm asks for at the first time only.
      env: {
        ...{ npm_config_cache: cache, npm_config_offline: "false", npm_config_prefer_offline: "true" },
        // Its telemetry writes an id into OpenClaw's settings while the gateway starts, whose reload ends that start.
        MEM0_TELEMETRY: "false",
        NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS ?? "",
      },
      // OpenClaw takes settings of a plugin only when it is installed.
      prepare: async (made) => {
        await made.host.installPlugin(path);
        const entry = JSON.stringify({ enabled: true, config });
        await made.command("config", "set", `plugins.entries.${PLUGIN}`, entry, "--json");
        await made.command("config", "set", "plugins.slots.memory", PLUGIN);
      },
    });
    const nowhere = () => Promise.resolve();
    return { ...gateway.part(), ways: {}, store: nowhere, forget: nowhere, ready: nowhere };
  },
};
