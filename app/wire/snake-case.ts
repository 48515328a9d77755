/** Fields whose names are not known one by one, such as an error's details, under the names that our JSON has. */

export function snakeCased<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCase(name), value]));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
