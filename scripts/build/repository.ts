/** Where the source of the packages is. Known only to whoever releases: `HELMDECK_REPOSITORY=https://HOST/OWNER/NAME npm run release -- …`. */

const ADDRESS = /^https:\/\/[\w.-]+(?:\/[\w.-]*[\w-])+$/;

/** Fields of a package.json; none without the variable. Throws if it is no address of a repository. */
export function repositoryFields(env: Readonly<Record<string, string | undefined>> = process.env) {
  const address = env.HELMDECK_REPOSITORY;
  if (address === undefined || address === "") return {};
  if (!ADDRESS.test(address))
    throw new Error("HELMDECK_REPOSITORY must be https://HOST/OWNER/NAME, without an ending.");
  return {
    repository: { type: "git", url: `git+${address}.git` },
    homepage: `${address}#readme`,
    bugs: { url: `${address}/issues` },
  };
}
