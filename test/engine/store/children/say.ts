/** How a child process answers. In its own file, because a child without a store starts ten times faster. */
export function say(line: Readonly<Record<string, unknown>>): void {
  console.log(JSON.stringify(line));
}
