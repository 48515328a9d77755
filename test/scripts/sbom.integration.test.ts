/** The SBOMs beside the tarballs list the contents of the packages, in agreement with their licence notices and the lockfile. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DIST, PLUGIN_DIST, ROOT } from "../../scripts/build/build.ts";
import { packEngine, packModel, packPlugin, sbomBeside } from "../../scripts/pack.ts";
import { type Sbom, sbomOfPlugin } from "../../scripts/supply-chain/sbom.ts";

const folder = mkdtempSync(join(tmpdir(), "helmdeck-sbom-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));

/** The packages in the headings of THIRD_PARTY_NOTICES.md: "## name version (licence)". */
function bundledBy(notices: string): readonly string[] {
  const headings = readFileSync(notices, "utf8").matchAll(/^## (\S+) (\d\S*) \(/gm);
  return [...headings].map(([, name, of]) => `${name}@${of}`).sort();
}

const listedIn = ({ components }: Sbom) => components.map(({ name, version }) => `${name}@${version}`).sort();

// verifies P-supply-sbom
describe("the SBOM beside", () => {
  let plugin: { readonly tarball: string; readonly sbom: Sbom };
  let engine: typeof plugin;
  let model: typeof plugin;
  beforeAll(async () => {
    const read = (tarball: string) => ({
      tarball,
      sbom: JSON.parse(readFileSync(sbomBeside(tarball), "utf8")),
    });
    plugin = read(await packPlugin(folder));
    engine = read(await packEngine(folder));
    model = read(await packModel(folder));
  });

  test("each tarball is named after it and says whose it is", () => {
    expect(plugin.tarball).toBe(join(folder, `helmdeck-helmdeck-memory-${version}.tgz`));
    expect(model.tarball).toBe(join(folder, `helmdeck-helmdeck-memory-model-${version}.tgz`));
    expect(engine.tarball).toBe(join(folder, `helmdeck-memory-${version}.tgz`));
    for (const [{ sbom }, name] of [
      [plugin, "@helmdeck/helmdeck-memory"],
      [engine, "helmdeck-memory"],
      [model, "@helmdeck/helmdeck-memory-model"],
    ] as const) {
      expect(sbom).toMatchObject({ bomFormat: "CycloneDX", metadata: { component: { name, version } } });
      expect(sbom.metadata.component["bom-ref"]).toBe(`${name}@${version}`);
      expect(sbom.dependencies.map(({ ref }) => ref)).toContain(`${name}@${version}`);
      expect(sbom.metadata.component.purl).toBe(`pkg:npm/${name.replace("@", "%40")}@${version}`);
    }
  });

  test("the plugin lists the packages that are bundled into it, and no others", () => {
    const bundled = bundledBy(join(PLUGIN_DIST, "THIRD_PARTY_NOTICES.md"));
    expect(bundled.length).toBeGreaterThan(3);
    expect(listedIn(plugin.sbom)).toEqual(bundled);
  });

  test("the engine lists the packages that are bundled into its commands, and those that are installed with it", () => {
    const listed = listedIn(engine.sbom);
    const bundled = [DIST, PLUGIN_DIST].flatMap((dist) => bundledBy(join(dist, "THIRD_PARTY_NOTICES.md")));
    const installed = ["better-sqlite3", "node-addon-api"].map(
      (name) => `${name}@${lock.packages[`node_modules/${name}`].version}`,
    );
    expect(listed).toEqual([...new Set([...bundled, ...installed])].sort());
    const direct = engine.sbom.dependencies[0]?.dependsOn ?? [];
    expect([...direct].sort()).toEqual([...new Set([...bundled, ...installed.slice(0, 1)])].sort());
  });

  test("the model lists the package whose WebAssembly it holds", () => {
    const { version: of } = lock.packages["node_modules/onnxruntime-web"];
    expect(listedIn(model.sbom)).toEqual([`onnxruntime-web@${of}`]);
  });

  test("each tells the lockfile's checksum of every package", () => {
    const checksums = Object.entries<{ version: string; integrity?: string }>(lock.packages).map(
      ([path, { version, integrity = "" }]) => {
        const content = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
        return `${path.split("node_modules/").at(-1)}@${version} ${content}`;
      },
    );
    for (const { name, version, hashes } of [plugin, engine, model].flatMap(({ sbom }) => sbom.components)) {
      expect(hashes).toEqual([{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
      const [{ content }] = hashes as [{ content: string }]; // checked above
      expect(checksums).toContain(`${name}@${version} ${content}`);
    }
  });

  test("refuses a package that was bundled and is not locked for use", async () => {
    const packed = { name: "@helmdeck/helmdeck-memory", version };
    await expect(sbomOfPlugin(packed, ["zod@0.0.1"])).rejects.toThrow("zod@0.0.1");
    await expect(
      sbomOfPlugin(packed, [`vitest@${lock.packages["node_modules/vitest"].version}`]),
    ).rejects.toThrow("vitest");
  });
});
