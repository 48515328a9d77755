/** An npm registry on loopback that serves one package as if it were published. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

interface Published {
  readonly url: string;
  readonly close: () => void;
}

/** `manifest` is the package.json in the tarball. */
export async function publishLocally(
  manifest: { readonly name: string; readonly version: string },
  tarball: string,
): Promise<Published> {
  const bytes = readFileSync(tarball);
  const { name, version } = manifest;
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    if (path === "/package.tgz") return response.end(bytes);
    if (path !== `/${name}` && path !== `/${name}/${version}`) return response.writeHead(404).end("{}");
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    const dist = { tarball: `http://${request.headers.host}/package.tgz`, integrity };
    const described = { ...manifest, dist };
    const all = { name, "dist-tags": { latest: version }, versions: { [version]: described } };
    return response.end(JSON.stringify(path === `/${name}` ? all : described));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
