/** A process's system calls that change files, in the order in which they returned, read from strace's output. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { whyWithout } from "../run/programs.ts";

export type Call =
  | { readonly call: "open"; readonly fd: number; readonly path: string; readonly makes: boolean }
  | { readonly call: "close"; readonly fd: number }
  | { readonly call: "write"; readonly fd: number; readonly bytes: Buffer; readonly at?: number }
  | { readonly call: "truncate"; readonly fd: number; readonly size: number }
  | { readonly call: "sync"; readonly fd: number }
  | { readonly call: "mkdir" | "unlink"; readonly path: string }
  | { readonly call: "link" | "rename"; readonly path: string; readonly to: string }
  | { readonly call: "times"; readonly path: string; readonly modifiedAt: number };

/** The calls that the model of a disk needs; `?` marks those that some processors lack. */
const TRACED = [
  ...[
    "?open",
    "openat",
    "close",
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "?pwritev2",
    "ftruncate",
    "fallocate",
  ],
  ...["fsync", "fdatasync", "?unlink", "unlinkat", "?rename", "renameat", "renameat2", "?link", "linkat"],
  ...["?mkdir", "mkdirat", "utimensat"],
];
const LONGEST_STRING = 1_000_000;

export function whyNoTrace(): string | undefined {
  return whyWithout("strace", "-o", "/dev/null", "true");
}

/** Runs the command under strace and throws if it fails. strace prints strings in full, in hexadecimal. */
export async function trace(command: readonly string[], file: string): Promise<void> {
  const options = ["-f", "--seccomp-bpf", "-xx", "-s", `${LONGEST_STRING}`, "-e", "signal=none"];
  const args = [...options, "-e", `trace=${TRACED.join(",")}`, "-o", file, ...command];
  const child = spawn("strace", args, { stdio: ["ignore", "pipe", "pipe"] });
  let complaint = "";
  child.stdout.resume();
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const [status] = await once(child, "close");
  if (status !== 0) throw new Error(`traced command ended with ${status}: ${complaint}`);
}

/** Leaves out failed calls, because they changed nothing. */
export async function callsIn(file: string): Promise<readonly Call[]> {
  const calls: Call[] = [];
  const begun = new Map<string, string>();
  for await (const line of createInterface({ input: createReadStream(file, "latin1") })) {
    const whole = wholeCall(line, begun);
    const call = whole === undefined ? undefined : parseCall(whole);
    if (call !== undefined) calls.push(call);
  }
  return calls;
}

/** strace may split one thread's call into two lines, with other threads' calls between them. */
function wholeCall(line: string, begun: Map<string, string>): string | undefined {
  const space = line.indexOf(" ");
  const thread = line.slice(0, space);
  const text = line.slice(space).trimStart();
  if (text.endsWith("<unfinished ...>")) {
    begun.set(thread, text.slice(0, -"<unfinished ...>".length).trimEnd());
    return undefined;
  }
  if (!text.startsWith("<... ")) return text;
  return `${begun.get(thread)}${text.slice(text.indexOf("resumed>") + "resumed>".length)}`;
}

function parseCall(text: string): Call | undefined {
  const [, name = "", args = "", result] = /^(\w+)\((.*)\)\s+= (\d+)/.exec(text) ?? [];
  if (result === undefined) return undefined;
  const fd = Number.parseInt(args, 10);
  const [path = "", to = ""] = args.match(/"(?:\\x[0-9a-f]{2})*"/g) ?? [];
  switch (name) {
    case "open":
    case "openat":
      return { call: "open", fd: Number(result), path: textOf(path), makes: args.includes("O_CREAT") };
    case "close":
      return { call: "close", fd };
    case "write":
      return { call: "write", fd, bytes: bytesOf(path).subarray(0, Number(result)) };
    case "pwrite64":
      return { call: "write", fd, bytes: bytesOf(path).subarray(0, Number(result)), at: lastNumber(args) };
    case "ftruncate":
      return { call: "truncate", fd, size: lastNumber(args) };
    case "fsync":
    case "fdatasync":
      return { call: "sync", fd };
    case "mkdir":
    case "mkdirat":
      return { call: "mkdir", path: textOf(path) };
    case "unlink":
    case "unlinkat":
      return { call: "unlink", path: textOf(path) };
    case "link":
    case "linkat":
      return { call: "link", path: textOf(path), to: textOf(to) };
    case "rename":
    case "renameat":
    case "renameat2":
      return { call: "rename", path: textOf(path), to: textOf(to) };
    case "utimensat":
      return { call: "times", path: textOf(path), modifiedAt: modificationIn(args) };
    case "writev":
    case "pwritev":
    case "pwritev2":
      return undefined; // only go to pipes so far
    default:
      return refuse(text);
  }
}

/** A model that ignored a call would prove nothing. */
function refuse(text: string): never {
  throw new Error(`not modelled: ${text.slice(0, 200)}`);
}

function bytesOf(quoted: string): Buffer {
  return Buffer.from(quoted.replace(/["\\x]+/g, ""), "hex");
}

function textOf(quoted: string): string {
  return bytesOf(quoted).toString();
}

function lastNumber(args: string): number {
  const [number] = /\d+$/.exec(args) ?? refuse(args);
  return Number(number);
}

/** The modification time in milliseconds. */
function modificationIn(args: string): number {
  const [, seconds, nanoseconds] = /.*tv_sec=(\d+), tv_nsec=(\d+)/.exec(args) ?? [];
  return Math.round(Number(seconds) * 1_000 + Number(nanoseconds) / 1_000_000);
}
