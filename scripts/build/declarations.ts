/**
 * Bundles the type declarations of the public API: one file per entry, without dependencies. zod's types are included, because
 * pack authors see them in their editor.
 */
import { join } from "node:path";
import { type Plugin, rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

const BUNDLED_TYPES = ["zod"];

/** The bundler copies an interface's `<out T>` to its aliases, where TypeScript does not allow it (TS2637). */
const withoutVariance: Plugin = {
  name: "without-variance",
  renderChunk: (code) =>
    code.replace(/^type \S+?<.*?> = /gm, (alias) => alias.replaceAll(/(?<=[<,] ?)(?:in |out )+/g, "")),
};

/** Writes `<name>.d.mts` for each entry into the folder. Throws if a type cannot be resolved or named. */
export async function writeDeclarations(
  root: string,
  entries: Readonly<Record<string, string>>,
  folder: string,
): Promise<void> {
  const bundle = await rollup({
    input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(root, file)])),
    external: [/^node:/],
    plugins: [
      dts({
        tsconfig: join(root, "tsconfig.json"),
        includeExternal: BUNDLED_TYPES,
        compilerOptions: { incremental: false, noEmit: false },
      }),
      withoutVariance,
    ],
    onwarn: ({ message }) => {
      throw new Error(message);
    },
  });
  try {
    await bundle.write({
      dir: folder,
      entryFileNames: "[name].d.mts",
      chunkFileNames: "types/[name]-[hash].d.mts",
    });
  } finally {
    await bundle.close();
  }
}
