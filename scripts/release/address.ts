/** Where a release's sources can be found: an address that the repository itself does not know. */

/** The variable with the repository's address, such as `https://git.example/memory`. Without it the packages name none. */
export const REPOSITORY = "HELMDECK_REPOSITORY";

/** The fields of a package's manifest that name it. Throws if the address is not one of https. */
export function addressFields(address: string | undefined) {
  if (address === undefined || address === "") return {};
  const isAddress = URL.canParse(address) && new URL(address).protocol === "https:";
  if (!isAddress)
    throw new Error(`${REPOSITORY} must be the repository's address, such as https://git.example/memory.`);
  const home = address.replace(/(?:\.git)?\/*$/, "");
  return {
    repository: { type: "git", url: `git+${home}.git` },
    homepage: `${home}#readme`,
    bugs: `${home}/issues`,
  };
}
