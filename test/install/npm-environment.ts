/** The environment of a person who installs our packages with npm: a prefix and a cache of their own, and our scope on loopback. */
import { mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { OpenClawHome } from "../../scripts/openclaw-host/openclaw-host.ts";
import { pathWithOpenClaw } from "../docker/package.ts";

type Env = Readonly<Record<string, string>>;

/** `env` has the commands that npm installs below `folder`/prefix; `npm`, for npm itself, also this machine's settings for its registry. */
export function npmEnvironment(
  home: OpenClawHome,
  folder: string,
  registry: { readonly url: string },
): { readonly env: Env; readonly npm: Env; readonly prefix: string } {
  const prefix = join(folder, "prefix");
  mkdirSync(prefix);
  const PATH = [join(prefix, "bin"), pathWithOpenClaw(join(folder, "bin"))].join(delimiter);
  const env = { ...home.env, PATH };
  const reach = Object.entries(process.env).filter(([name]) => /proxy|cert|^npm_config_/i.test(name));
  const npm = {
    ...Object.fromEntries(reach),
    ...env,
    npm_config_cache: join(folder, "cache"),
    npm_config_offline: "false",
    "npm_config_@helmdeck:registry": registry.url,
  };
  return { env, npm, prefix };
}
