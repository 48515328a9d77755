/** The registry settings of this machine's npm, for an npm in a test's home, which lacks the user's settings. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const SETTINGS = ["registry", "userconfig"];
const VARIABLES = /_proxy$|^NODE_EXTRA_CA_CERTS$|^SSL_CERT_/i;

export async function wayToPackages(): Promise<Readonly<Record<string, string>>> {
  const settings = await Promise.all(
    SETTINGS.map(async (name) => [`npm_config_${name}`, await setting(name)]),
  );
  const variables = Object.entries(process.env).filter(([name]) => VARIABLES.test(name));
  return Object.fromEntries([...settings, ...variables, ["npm_config_offline", "false"]]);
}

async function setting(name: string): Promise<string> {
  return (await promisify(execFile)("npm", ["config", "get", name])).stdout.trim();
}
