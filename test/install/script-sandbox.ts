/** A package whose program only records its runs, so that a test covers only install.sh. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const SCRIPT = join(import.meta.dirname, "..", "..", "install", "install.sh");

export class ScriptSandbox {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "hd-script-")));
  readonly packageRoot = join(this.folder, "package");
  readonly script = join(this.packageRoot, "install", "install.sh");
  readonly #home = join(this.folder, "home");

  constructor() {
    for (const name of ["package/install", "package/dist", "bin", "home"])
      mkdirSync(join(this.folder, name), { recursive: true });
    cpSync(SCRIPT, this.script);
    writeFileSync(
      join(this.packageRoot, "dist", "install.mjs"),
      'import { appendFileSync } from "node:fs"; appendFileSync(process.env.HOME + "/ran", JSON.stringify(process.argv.slice(2)) + "\\n");',
    );
  }

  run(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const [file = "", ...args] = command;
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
    const options = { env: { PATH, HOME: this.#home, ...env }, cwd: this.folder, encoding: "utf8" } as const;
    const { status, stderr } = spawnSync(file, args, options);
    return { status, stderr };
  }

  /** The arguments of each run of the program. */
  ran(): string {
    const file = join(this.#home, "ran");
    return globSync(file).length === 0 ? "" : readFileSync(file, "utf8");
  }

  /** Of a file that the program made. */
  modeOfRun(): number {
    return statSync(join(this.#home, "ran")).mode & 0o777;
  }

  clearHome(): void {
    rmSync(this.#home, { recursive: true, force: true });
    mkdirSync(this.#home);
  }

  files(): readonly string[] {
    return globSync(join(this.folder, "**")).sort();
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
