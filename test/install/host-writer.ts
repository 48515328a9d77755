/** OpenClaw's own `config patch`, run in this process. Its command line takes two seconds to start, its writer milliseconds. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { LOCKED_OPENCLAW } from "../../scripts/openclaw-host/runtime.ts";

interface Runtime {
  log(text: string): void;
  error(text: string): void;
  exit(code: number): never;
}

interface ConfigCommands {
  runConfigPatch(options: {
    readonly cliOptions: { readonly file: string; readonly replacePath: readonly string[] };
    readonly runtime: Runtime;
  }): Promise<void>;
}

/** Applies the patch file to the configuration in OPENCLAW_CONFIG_PATH. Returns its complaint, or undefined. */
export type HostPatch = (patchFile: string) => Promise<string | undefined>;

export async function loadHostWriter(): Promise<HostPatch> {
  const dist = join(dirname(LOCKED_OPENCLAW.entry), "dist");
  const module = globSync(join(dist, "config-cli-*.mjs")).find((file) =>
    /export \{[^}]*\brunConfigPatch\b/.test(readFileSync(file, "utf8")),
  );
  if (module === undefined) throw new Error("The host's config command is not where it was.");
  const { runConfigPatch } = (await import(pathToFileURL(module).href)) as ConfigCommands; // the host's own module, without types
  return async (patchFile) => {
    const said: string[] = [];
    const runtime: Runtime = {
      log: () => {},
      error: (text) => void said.push(text),
      exit: (code) => {
        throw new Error(`ended with ${code}`);
      },
    };
    try {
      await runConfigPatch({ cliOptions: { file: patchFile, replacePath: [] }, runtime });
      return undefined;
    } catch (error) {
      return `${said.join("\n")} ${error instanceof Error ? error.message : ""}`;
    }
  };
}
