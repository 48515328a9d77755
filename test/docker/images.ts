/**
 * Images made on this machine, since no registry can be asked: a stand-in for Ollama's, and one that runs the real OpenClaw.
 *
 * Each is busybox, bash, the pinned Node and the libraries these need. The stand-in for Ollama is test/sidecar's, under the
 * image name that the compose file has; it says of itself that it is one.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import type { Engine } from "./engine.ts";

const root = join(import.meta.dirname, "..", "..");
export const OPENCLAW_IMAGE = "openclaw:local";

/** The image that compose.embeddings.yml names. */
function ollamaImage(): string {
  const text = readFileSync(join(root, "compose.embeddings.yml"), "utf8");
  const name = /\$\{HELMDECK_EMBEDDINGS_IMAGE:-([^}]+)\}/.exec(text)?.[1];
  if (name === undefined) throw new Error("compose.embeddings.yml names no image");
  return name;
}

export async function makeOllamaImage(engine: Engine): Promise<void> {
  await withTree(async (tree) => {
    await build({
      entryPoints: [join(root, "test", "sidecar", "stand-in-ollama.ts")],
      outfile: join(tree, "opt", "ollama.mjs"),
      bundle: true,
      format: "esm",
      platform: "node",
      logLevel: "warning",
    });
    const serve = 'test "$1" = serve && set -- "$@" --models-file /root/.ollama/models.json';
    program(tree, "bin/ollama", `#!/bin/sh\n${serve}\nexec /usr/local/bin/node /opt/ollama.mjs "$@"\n`);
    mkdirSync(join(tree, "root", ".ollama"), { recursive: true });
    const changes = ['ENTRYPOINT ["/bin/ollama"]', 'CMD ["serve"]', "ENV OLLAMA_HOST=0.0.0.0:11434"];
    await importTree(engine, tree, ollamaImage(), changes);
  });
}

/** OpenClaw itself is not in it: the repository's node_modules are mounted at /app, read-only. */
export async function makeOpenClawImage(engine: Engine): Promise<void> {
  await withTree(async (tree) => {
    const entry = "/app/node_modules/openclaw/openclaw.mjs";
    program(tree, "usr/local/bin/openclaw", `#!/bin/sh\nexec node ${entry} "$@"\n`);
    program(tree, "usr/local/bin/npm", '#!/bin/sh\nexec node /opt/npm/bin/npm-cli.js "$@"\n');
    await importTree(engine, tree, OPENCLAW_IMAGE, [
      "ENV PATH=/usr/local/bin:/bin HOME=/root",
      'ENTRYPOINT ["openclaw"]',
    ]);
  });
}

/** What a container of that image mounts: from where, to where. */
export function openClawMounts(): readonly string[] {
  return [`${join(root, "node_modules")}:/app/node_modules:ro`, `${npmFolder()}:/opt/npm:ro`];
}

function npmFolder(): string {
  const npm = execFileSync("sh", ["-c", 'readlink -f "$(command -v npm)"'], { encoding: "utf8" }).trim();
  return dirname(dirname(npm));
}

async function withTree(fill: (tree: string) => Promise<void>): Promise<void> {
  const tree = mkdtempSync(join(tmpdir(), "hd-image-"));
  try {
    for (const folder of ["bin", "opt", "proc", "sys", "dev", "etc", "root", "usr/local/bin"])
      mkdirSync(join(tree, folder), { recursive: true });
    mkdirSync(join(tree, "tmp"), { mode: 0o777 });
    chmodSync(join(tree, "tmp"), 0o1777);
    symlinkSync("../bin", join(tree, "usr", "bin"));
    writeFileSync(join(tree, "etc", "passwd"), "root:x:0:0:root:/root:/bin/sh\n");
    const node = createRequire(import.meta.url).resolve("node/bin/node");
    withLibraries(tree, node, "usr/local/bin/node");
    withLibraries(tree, "/bin/bash", "bin/bash");
    withBusybox(tree);
    await fill(tree);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

function withBusybox(tree: string): void {
  copyFileSync("/bin/busybox", join(tree, "bin", "busybox"));
  const applets = execFileSync("/bin/busybox", ["--list"], { encoding: "utf8" }).split("\n");
  for (const applet of applets.filter((name) => !["", "busybox", "bash"].includes(name)))
    symlinkSync("busybox", join(tree, "bin", applet));
}

/** The program and the shared libraries that the dynamic linker would load for it, at the same paths. */
function withLibraries(tree: string, program: string, to: string): void {
  copyFileSync(program, join(tree, to));
  const listed = execFileSync("ldd", [program], { encoding: "utf8" });
  for (const [, path = ""] of listed.matchAll(/(\/\S+) \(0x/g)) {
    mkdirSync(join(tree, dirname(path)), { recursive: true });
    copyFileSync(path, join(tree, path));
  }
}

function program(tree: string, path: string, text: string): void {
  writeFileSync(join(tree, path), text, { mode: 0o755 });
}

async function importTree(
  engine: Engine,
  tree: string,
  name: string,
  changes: readonly string[],
): Promise<void> {
  const archive = `${tree}.tar`;
  try {
    execFileSync("tar", ["-C", tree, "-cf", archive, "."]);
    await engine.docker("import", ...changes.flatMap((change) => ["--change", change]), archive, name);
  } finally {
    rmSync(archive, { force: true });
  }
}
