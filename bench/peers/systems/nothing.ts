/** OpenClaw with a plugin that does nothing: the floor of all costs. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../../scripts/build/build.ts";
import { packEmptyPlugin } from "../../plugin/empty-plugin.ts";
import { Gateway } from "../gateway.ts";
import type { System } from "../system.ts";

export const nothing: System = {
  id: "nothing",
  title: "nothing",
  version: "an empty plugin",
  settings: "https://docs.openclaw.ai/tools/plugin",
  note: "OpenClaw with a plugin that does nothing.",
  groups: ["costs", "prompt"],
  async start(place) {
    const gateway = await Gateway.start(place, {
      prepare: async ({ host }) => {
        const folder = mkdtempSync(join(tmpdir(), "helmdeck-empty-"));
        try {
          const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
          await host.installPlugin(packEmptyPlugin(folder, manifest));
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      },
    });
    const nowhere = () => Promise.resolve();
    return { ...gateway.part(), ways: {}, store: nowhere, forget: nowhere, ready: nowhere };
  },
};
