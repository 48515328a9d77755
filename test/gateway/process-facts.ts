/** Figures of the operating system on the gateway's process: its memory, open files and threads. */
import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";

export async function residentBytes(pid: number): Promise<number> {
  const kilobytes = await output("ps", ["-o", "rss=", "-p", String(pid)]);
  return Number(kilobytes.trim()) * 1_024;
}

/** How often the process has this file open. */
export async function timesOpen(pid: number, file: string): Promise<number> {
  const open = process.platform === "linux" ? await openFilesOnLinux(pid) : await openFilesByLsof(pid);
  return open.filter((path) => path === file).length;
}

/** Names of the threads. Undefined if the system does not report them. */
export async function threadNames(pid: number): Promise<readonly string[] | undefined> {
  if (process.platform !== "linux") return undefined;
  const tasks = `/proc/${pid}/task`;
  const names = (await readdir(tasks)).map((task) =>
    readFile(`${tasks}/${task}/comm`, "utf8").catch(() => ""),
  );
  return (await Promise.all(names)).map((name) => name.trim());
}

async function openFilesOnLinux(pid: number): Promise<readonly string[]> {
  const folder = `/proc/${pid}/fd`;
  // A descriptor may be closed between listing and reading it.
  return Promise.all((await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => "")));
}

async function openFilesByLsof(pid: number): Promise<readonly string[]> {
  const listed = await output("lsof", ["-p", String(pid), "-Fn"]);
  return listed
    .split("\n")
    .filter((line) => line.startsWith("n"))
    .map((line) => line.slice(1));
}

function output(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });
}
