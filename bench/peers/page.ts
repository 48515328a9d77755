export function writePage(path: string, _machine: string, _seed: number): string {
  return path;
}
