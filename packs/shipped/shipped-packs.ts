/** The shipped packs, and their settings from the environment: an empty variable counts as absent. */

import * as z from "zod";
import type { Memory } from "../../app/memory.ts";
import { invalidField } from "../../engine/errors.ts";
import type { Pack } from "../engine/pack-contract.ts";
import type { GitHubOptions } from "./github-client.ts";
import { gitHubIssuesPack } from "./github-issues.ts";
import { memoryPacks } from "./memory-packs.ts";
import { type SolveOptions, solvePack } from "./solve.ts";

interface ShippedPacksOptions extends PackSettings {
  readonly memory: Memory;
}

/** Throws `invalid_input` if a setting cannot be used. */
export function shippedPacks({ memory, github, solve }: ShippedPacksOptions): readonly Pack[] {
  return [...memoryPacks(memory), gitHubIssuesPack(github), solvePack(solve)];
}

export interface PackSettings {
  readonly github: GitHubOptions;
  readonly solve: SolveOptions;
}

type Env = Readonly<Record<string, string | undefined>>;

const argvSchema = z.tuple([z.string().min(1)], z.string());
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * `GITHUB_TOKEN`, `GITHUB_API_URL`; `HELMDECK_SOLVE_COMMAND` (a JSON list), `HELMDECK_SOLVE_ENV` (names of variables to pass to
 * the command), `HELMDECK_SOLVE_HOSTS`, `HELMDECK_SOLVE_CA_FILE`. Throws `invalid_input`, without any value.
 */
export function packSettings(env: Env): PackSettings {
  const { GITHUB_TOKEN: token, GITHUB_API_URL: baseUrl } = env;
  const hosts = listOf(env.HELMDECK_SOLVE_HOSTS);
  const { HELMDECK_SOLVE_COMMAND: command, HELMDECK_SOLVE_CA_FILE: caFile } = env;
  const names = listOf(env.HELMDECK_SOLVE_ENV);
  if (!names.every((name) => NAME.test(name))) {
    throw invalidField("HELMDECK_SOLVE_ENV", "must be names of variables, separated by commas");
  }
  return {
    github: { ...(token && { token }), ...(baseUrl && { baseUrl }) },
    solve: {
      ...(command && { command: argvOf(command) }),
      ...(caFile && { caFile }),
      ...(hosts.length > 0 && { hosts }),
      env: Object.fromEntries(
        names.flatMap((name) => {
          const value = env[name];
          return value === undefined ? [] : [[name, value]];
        }),
      ),
    },
  };
}

function argvOf(text: string): readonly string[] {
  try {
    return argvSchema.parse(JSON.parse(text));
  } catch {
    throw invalidField(
      "HELMDECK_SOLVE_COMMAND",
      'must be a JSON list of texts, such as ["coder", "--stdin"]',
    );
  }
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
