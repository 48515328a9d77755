/**
 * Serves repositories with git's own http-backend over https on loopback, with a certificate made for the test. The tests therefore keep
 * the rule that only https is accepted.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

const run = promisify(execFile);

export interface GitServer {
  /** `https://127.0.0.1:<port>` */
  readonly origin: string;
  /** File of the certificate, for GIT_SSL_CAINFO. */
  readonly caFile: string;
  /** Paths of the requests. */
  readonly asked: string[];
  /** Makes a repository of these files and returns its address. */
  add(name: string, files: Readonly<Record<string, string>>): Promise<string>;
  /** Runs any git command in a repository's working tree. Returns its output. */
  git(name: string, ...args: readonly string[]): Promise<string>;
  /** Answers every later request instead of git. */
  answerWith(answer: (request: IncomingMessage, response: ServerResponse) => void): void;
}

export async function startGitServer(root: string): Promise<GitServer> {
  const tls = await placeCertificate(root);
  const asked: string[] = [];
  let answer = (request: IncomingMessage, response: ServerResponse) => serveGit(root, request, response);
  const server = createServer(tls, (request, response) => {
    asked.push(request.url ?? "");
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const git = async (name: string, ...args: readonly string[]) => {
    const { stdout } = await run("git", ["-C", join(root, name), ...args], { env: GIT_ENV });
    return stdout.trim();
  };
  return {
    origin,
    caFile: tls.caFile,
    asked,
    git,
    add: async (name, files) => {
      await mkdir(join(root, name));
      await git(name, "init", "--quiet", "--initial-branch=main");
      for (const [file, text] of Object.entries(files)) await writeFile(join(root, name, file), text);
      await git(name, "add", "--all");
      await git(name, "commit", "--quiet", "--allow-empty", "--message=first");
      return `${origin}/${name}/.git`;
    },
    answerWith: (other) => {
      answer = other;
    },
  };
}

const WHO = { NAME: "Test", EMAIL: "test@example.org" };
const GIT_ENV = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: WHO.NAME,
  GIT_AUTHOR_EMAIL: WHO.EMAIL,
  GIT_COMMITTER_NAME: WHO.NAME,
  GIT_COMMITTER_EMAIL: WHO.EMAIL,
};

/** One for all servers of a test file. */
let certificate: Promise<{ readonly key: Buffer; readonly cert: Buffer }> | undefined;

async function placeCertificate(root: string) {
  certificate ??= makeCertificate(root);
  const caFile = join(root, "cert.pem");
  const tls = await certificate;
  await writeFile(caFile, tls.cert);
  return { ...tls, caFile };
}

async function makeCertificate(root: string) {
  const [keyFile, caFile] = [join(root, "key.pem"), join(root, "cert.pem")];
  const names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-keyout", keyFile, "-out", caFile];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  await run("openssl", ["req", "-x509", ...kind, ...names, ...files]);
  return { key: await readFile(keyFile), cert: await readFile(caFile) };
}

/** CGI, as git-http-backend(1) describes it. */
function serveGit(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "https://127.0.0.1");
  const backend = spawn("git", ["http-backend"], {
    env: {
      ...GIT_ENV,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  request.pipe(backend.stdin);
  backend.stdin.on("error", () => {});
  void relay(backend.stdout, response);
}

async function relay(output: NodeJS.ReadableStream, response: ServerResponse): Promise<void> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of output) {
    if (head === undefined) {
      response.write(chunk);
      continue;
    }
    head = Buffer.concat([head, Buffer.from(chunk)]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) continue;
    writeHead(head.subarray(0, end).toString(), response);
    response.write(head.subarray(end + 4));
    head = undefined;
  }
  response.end();
}

function writeHead(text: string, response: ServerResponse): void {
  const fields = text.split("\r\n").map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const status = fields.find(([name]) => name.toLowerCase() === "status")?.[1] ?? "200";
  for (const [name, value] of fields) if (name.toLowerCase() !== "status") response.setHeader(name, value);
  response.writeHead(Number.parseInt(status, 10));
}
