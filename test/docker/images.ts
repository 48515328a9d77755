/**
 * Images made on this machine, because the tests use no registry: stand-ins for Ollama's and PostgreSQL's images, an image with the real
 * OpenClaw, and the engine's.
 *
 * Each contains busybox, bash, the pinned Node and the libraries that these need. The stand-in for Ollama comes from test/sidecar and has
 * the image name of the compose file; it identifies itself as a stand-in. The stand-in for PostgreSQL runs this machine's own server, and
 * implements the parts of the official image's start that compose.engine.yml relies on.
 */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { build } from "esbuild";
import { MODEL_PACKAGE } from "../../model/artefact.ts";
import { DIST, MODEL_DIST } from "../../scripts/build/build.ts";
import { postgresPrograms } from "../postgres/server.ts";
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

/** The image does not contain OpenClaw. The repository's node_modules are mounted at /app, read-only. */
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

/** The image that compose.engine.yml builds, made without its Dockerfile, which would fetch Node from a registry. */
export async function makeMemoryImage(engine: Engine): Promise<void> {
  await withTree(async (tree) => {
    for (const name of ["helmdeck-memory.mjs", "cli.mjs", "model-process.mjs", "notes-thread.mjs", "chunks"])
      cpSync(join(DIST, name), join(tree, "app", "dist", name), { recursive: true });
    const library = join("node_modules", "better-sqlite3");
    cpSync(join(root, library), join(tree, "app", library), {
      recursive: true,
      filter: (path) => !/better-sqlite3\/(deps|src)$/.test(path),
    });
    cpSync(MODEL_DIST, join(tree, "app", "node_modules", MODEL_PACKAGE), { recursive: true });
    mkdirSync(join(tree, "data"), { mode: 0o700 });
    chownSync(join(tree, "data"), 1000, 1000);
    await importTree(engine, tree, "helmdeck-memory", [
      "ENV PATH=/usr/local/bin:/bin NODE_ENV=production OPENCLAW_STATE_DIR=/data",
      "USER 1000:1000",
      'ENTRYPOINT ["node", "/app/dist/helmdeck-memory.mjs"]',
      healthCheck(),
    ]);
  });
}

/** The image's own check, made more often, so that a test need not wait for it. */
function healthCheck(): string {
  const [, command] =
    /^HEALTHCHECK .*\\\n\s+(CMD .+)$/m.exec(readFileSync(join(root, "Dockerfile"), "utf8")) ?? [];
  if (command === undefined) throw new Error("The Dockerfile has no health check.");
  return `HEALTHCHECK --interval=1s --timeout=5s --retries=1 ${command}`;
}

export const POSTGRES_IMAGE = "postgres-stand-in";
const POSTGRES_USER = 999;

/** Makes a database cluster: the superuser's password from a file, one database, the scripts for a first start. Then runs the server. */
const POSTGRES_START = `#!/bin/sh
set -eu
data=/var/lib/postgresql/data
if [ ! -e "$data/PG_VERSION" ]; then
  initdb -D "$data" -U postgres -A scram-sha-256 --auth-local=trust --pwfile="$POSTGRES_PASSWORD_FILE" --locale=C -E UTF8
  echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
  pg_ctl -D "$data" -w -o "-c listen_addresses=" start
  psql -U postgres -d postgres -c "CREATE DATABASE "$POSTGRES_DB""
  for script in /docker-entrypoint-initdb.d/*.sh; do sh "$script"; done
  pg_ctl -D "$data" -w -m fast stop
fi
exec postgres -D "$data" -c listen_addresses='*'
`;

export async function makePostgresImage(engine: Engine): Promise<void> {
  await withTree(async (tree) => {
    const programs = postgresPrograms() ?? "";
    const [folder, version = ""] = [dirname(programs), basename(dirname(programs))];
    for (const name of ["postgres", "initdb", "pg_ctl", "psql", "pg_isready"]) {
      mkdirSync(join(tree, programs), { recursive: true });
      withLibraries(tree, realpathSync(join(programs, name)), join(programs, name));
    }
    const isNeeded = (path: string) => !/bitcode|llvmjit/.test(path);
    cpSync(join(folder, "lib"), join(tree, folder, "lib"), { recursive: true, filter: isNeeded });
    const shared = join("/usr/share/postgresql", version);
    cpSync(shared, join(tree, shared), { recursive: true, dereference: true });
    const zones = "/usr/share/zoneinfo";
    cpSync(zones, join(tree, zones), { recursive: true });
    program(tree, "start", POSTGRES_START);
    const account = `postgres:x:${POSTGRES_USER}:${POSTGRES_USER}::/:/bin/sh\n`;
    appendFileSync(join(tree, "etc", "passwd"), account);
    const data = join(tree, "var", "lib", "postgresql", "data");
    mkdirSync(data, { recursive: true });
    chmodSync(data, 0o700);
    chownSync(data, POSTGRES_USER, POSTGRES_USER);
    mkdirSync(join(tree, "var", "run", "postgresql"), { recursive: true });
    await importTree(engine, tree, POSTGRES_IMAGE, [
      `ENV PATH=${programs}:/usr/local/bin:/bin`,
      'ENTRYPOINT ["/start"]',
    ]);
  });
}

/** The mounts of a container with that image, as source and target. */
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

/** Copies the program, and the shared libraries that the dynamic linker loads for it, to the same paths. */
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
