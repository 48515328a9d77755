/**
 * The name of the repository that a working copy was cloned from.
 *
 * Who attacks: a repository, whose configuration is read here before anybody has looked at it. What stops them: git itself reads
 * it, with `git config --local --get` alone, which runs no hook, filter, pager, file-system monitor or alias, follows no include,
 * and refuses a repository of another account as git does (`safe.directory`). Variables that would point git at another
 * repository are taken out of the environment, no shell is started, and of what git prints only the last name is used, so that
 * a token in the address is never shown.
 */
import { execFile } from "node:child_process";

type Environment = Readonly<Record<string, string | undefined>>;

const PATIENCE_MS = 2_000;
const MOST_BYTES = 8_192;

/** Undefined without git, repository or origin. */
export async function originName(root: string, env: Environment): Promise<string | undefined> {
  const address = await originAddress(root, env);
  return address === undefined ? undefined : repositoryNameIn(address);
}

/** The last name in a remote's address, without `.git`: of a URL, of `host:path`, of a folder. */
export function repositoryNameIn(address: string): string | undefined {
  const [path = ""] = address.trim().split(/[?#]/, 1);
  const last =
    path
      .replace(/[/\\]+$/, "")
      .split(/[/\\:]/)
      .at(-1) ?? "";
  const name = last.replace(/\.git$/, "");
  // An address without a path ends in a host, perhaps with somebody's password before it.
  const isHost = /^[a-z][a-z0-9+.-]*:\/\/[^/]*\/*$/i.test(path);
  return name === "" || name.includes("@") || isHost ? undefined : name;
}

function originAddress(root: string, env: Environment): Promise<string | undefined> {
  const args = ["config", "--local", "--get", "remote.origin.url"];
  const options = { cwd: root, env: withoutGitVariables(env), timeout: PATIENCE_MS, maxBuffer: MOST_BYTES };
  return new Promise((resolve) => {
    try {
      execFile("git", args, options, (error, stdout) => resolve(error === null ? stdout : undefined));
    } catch {
      resolve(undefined); // a root that cannot be a folder's name at all
    }
  });
}

/** In a git hook GIT_DIR names the repository that the hook belongs to, whatever folder is asked about. */
function withoutGitVariables(env: Environment): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith("GIT_")));
}
