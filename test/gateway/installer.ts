/** Runs the installer inside the test's process, in the home of an OpenClaw that a test made. */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Environment } from "../../install/environment.ts";
import { runInstaller } from "../../install/installer.ts";
import { Journal } from "../../install/journal.ts";
import { parseOptions } from "../../install/options.ts";
import { JsonReporter } from "../../install/report.ts";
import { makeRun } from "../../install/run-command.ts";
import { Docker } from "../../install/run-docker.ts";
import { ROOT } from "../../scripts/build/build.ts";
import type { OpenClawHome } from "../../scripts/openclaw-host/openclaw-host.ts";
import { createOllamaSidecar } from "../../sidecar/ollama.ts";
import { pathWithOpenClaw } from "../docker/package.ts";
import type { Report } from "../docker/rig.ts";

/** Installing the plugin needs no registry. Nothing listens on this port. */
const WITHOUT_REGISTRY = { npm_config_offline: "false", npm_config_registry: "http://127.0.0.1:9/" };

/** `env` is the environment of the shell that runs the installer. */
export async function environmentOf(
  home: OpenClawHome,
  env: Environment["env"] = home.env,
): Promise<Environment> {
  const whole = {
    ...env,
    PATH: pathWithOpenClaw(join(home.root, "bin"), home.runtime),
    ...WITHOUT_REGISTRY,
  };
  const run = makeRun(whole);
  return {
    ...{ env: whole, homeDir: join(home.root, "home"), root: ROOT, run, docker: new Docker(run, ROOT) },
    journal: await Journal.read(join(home.root, "journal")),
    sidecarAt: (address) => createOllamaSidecar({ address }),
    pause: async (ms) => {
      await pause(ms);
    },
    now: Date.now,
  };
}

/** Runs `install.sh --json --openclaw host <args>` without anybody to ask. */
export async function installerIn(environment: Environment, ...args: readonly string[]) {
  const { reporter, report } = reporting();
  const options = parseOptions(["--openclaw", "host", ...args], { write: () => {} });
  const code = await runInstaller(environment, options, reporter, undefined);
  return { code, report: report() };
}

export function reporting() {
  let text = "";
  const reporter = new JsonReporter({ write: (more) => (text += more) });
  return { reporter, report: () => JSON.parse(text) as Report };
}
