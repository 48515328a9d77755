/** How a child answers. In a file of its own: a child that needs no store starts in a tenth of the time. */
export function say(line: Readonly<Record<string, unknown>>): void {
  console.log(JSON.stringify(line));
}
