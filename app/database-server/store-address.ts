/**
 * Parses the address of a memory database on a server, in libpq's notation: `postgres://user@host:5432,host2/database?sslmode=…`.
 *
 * Attackers can list processes, read a shell's history, or intercept the network. So a password on the command line is refused,
 * and for other machines nothing is sent before the server's certificate and name are verified, unless the address says
 * `sslmode=disable`.
 */
import { join } from "node:path";
import { defined } from "../../engine/defined.ts";
import { type HelmdeckError, invalidField } from "../../engine/errors.ts";
import { readGivenFile } from "../../engine/given-file.ts";

interface DatabaseHost {
  /** A name, an IP address, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
}

export interface StoreAddress {
  readonly hosts: readonly DatabaseHost[];
  readonly database: string;
  readonly user?: string;
  readonly password?: string;
  readonly schema?: string;
  readonly tls: "none" | "verify-ca" | "verify-full";
  /** A file of certificates; absent: those that Node trusts. */
  readonly rootCertificate?: string;
  readonly needs: "any" | "read-write";
  readonly connections?: number;
  readonly statementTimeoutMs?: number;
}

export interface AddressOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  /** The source of the text. A command line must not hold a password. */
  readonly from: "argument" | "environment";
}

const FIELD = "store";
const DEFAULT_PORT = 5_432;
const DEFAULT_HOST = "localhost";
const URL_FORM = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const PARAMETERS = new Set([
  ...[
    "host",
    "port",
    "dbname",
    "user",
    "password",
    "service",
    "sslmode",
    "sslrootcert",
    "target_session_attrs",
  ],
  ...["schema", "pool_size", "statement_timeout"],
]);

type Settings = Readonly<Record<string, string>>;

/** Throws `invalid_input`, without showing the address. */
export async function readStoreAddress(text: string, options: AddressOptions): Promise<StoreAddress> {
  const given = settingsOf(text);
  if (options.from === "argument" && given.password !== undefined) throw passwordShown();
  const named = given.service === undefined ? {} : await serviceNamed(given.service, options);
  return addressOf({ ...named, ...given }, options);
}

/** The same address for another role. */
export function addressAs(role: string, text: string): string {
  return text
    .replace(/^(postgres(?:ql)?:\/\/)(?:[^@/?#]*@)?/i, (_, scheme) => `${scheme}${encodeURIComponent(role)}@`)
    .replace(/([?&])user=[^&]*(&|$)/, (_, before, after) => (after === "" ? "" : before));
}

function settingsOf(text: string): Settings {
  const found = URL_FORM.exec(text);
  if (found === null) throw refuse("must be of the form postgres://USER@HOST:5432/DATABASE");
  const [, account = "", hosts = "", database = "", query = ""] = found;
  const [user = "", password] = cut(account, ":");
  const parameters = Object.fromEntries(new URLSearchParams(query.replaceAll("+", "%2B")));
  for (const name of Object.keys(parameters)) requireKnown(name);
  const [host, port] = hostsAndPorts(hosts);
  return {
    ...defined({ host, port, password: password === undefined ? undefined : decoded(password) }),
    ...(user !== "" && { user: decoded(user) }),
    ...(database !== "" && { dbname: decoded(database) }),
    ...parameters,
  };
}

function hostsAndPorts(list: string): readonly [string | undefined, string | undefined] {
  if (list === "") return [undefined, undefined];
  const each = list.split(",").map((one) => /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(one));
  if (each.includes(null)) throw refuse("has an invalid host");
  const hosts = each.map((one) => decoded(one?.[1]?.replace(/^\[|\]$/g, "") ?? ""));
  return [hosts.join(","), each.map((one) => one?.[2] ?? "").join(",")];
}

function addressOf(settings: Settings, { env }: AddressOptions): StoreAddress {
  for (const name of Object.keys(settings)) requireKnown(name);
  const { host = DEFAULT_HOST, port = "", dbname, user, schema, sslrootcert, password } = settings;
  const ports = port.split(",");
  const hosts = host.split(",").map((one, index) => ({
    host: one || DEFAULT_HOST,
    port: countOf("port", ports[ports.length === 1 ? 0 : index] || undefined, 1, 65_535) ?? DEFAULT_PORT,
  }));
  const database = dbname ?? user ?? env.PGDATABASE;
  if (database === undefined) throw refuse("has no database; the form is postgres://USER@HOST/DATABASE");
  return {
    hosts,
    database,
    ...defined({ user, schema, password }),
    tls: tlsOf(settings.sslmode, hosts),
    ...defined({ rootCertificate: sslrootcert === "system" ? undefined : sslrootcert }),
    needs: needsOf(settings.target_session_attrs, hosts.length),
    ...defined({
      connections: countOf("pool_size", settings.pool_size, 1, 500),
      statementTimeoutMs: countOf("statement_timeout", settings.statement_timeout, 100, 3_600_000),
    }),
  };
}

const HERE = /^(\/.*|localhost|::1|127(\.\d{1,3}){3})$/s;

/** Connections within this machine need no TLS. */
function tlsOf(mode: string | undefined, hosts: readonly DatabaseHost[]): StoreAddress["tls"] {
  switch (mode) {
    case undefined:
      return hosts.every(({ host }) => HERE.test(host)) ? "none" : "verify-full";
    case "disable":
      return "none";
    case "verify-ca":
      return mode;
    case "require":
    case "verify-full":
      return "verify-full";
    default:
      throw refuse(
        "has an sslmode that does not verify the server; use verify-full (with sslrootcert=FILE for your own certificate), or disable on a trusted network",
      );
  }
}

/** With several servers, an engine needs the primary, which may change after a failover. */
function needsOf(attributes: string | undefined, hosts: number): StoreAddress["needs"] {
  switch (attributes) {
    case undefined:
      return hosts > 1 ? "read-write" : "any";
    case "any":
      return "any";
    case "read-write":
    case "primary":
      return "read-write";
    default:
      throw refuse("has an unsupported target_session_attrs; use any, primary or read-write");
  }
}

function countOf(name: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return count;
  throw refuse(`has a ${name} that is not a whole number from ${least} to ${most}`);
}

/** In libpq's order: PGSERVICEFILE, ~/.pg_service.conf, the system's file. */
async function serviceNamed(name: string, { env, homeDir }: AddressOptions): Promise<Settings> {
  const file = env.PGSERVICEFILE ?? join(homeDir, ".pg_service.conf");
  const system = join(env.PGSYSCONFDIR ?? "/etc/postgresql-common", "pg_service.conf");
  for (const path of [file, system]) {
    const read = await readGivenFile(path);
    const section = "text" in read ? sectionOf(read.text, name) : undefined;
    if (section !== undefined) return section;
  }
  throw refuse(`names a service that is neither in ${file} nor in ${system}`);
}

function sectionOf(text: string, name: string): Settings | undefined {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const start = lines.indexOf(`[${name}]`);
  if (start === -1) return undefined;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith("["));
  const own = rest
    .slice(0, end === -1 ? undefined : end)
    .filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(own.map((line) => cut(line, "=").map((part) => part?.trim() ?? "")));
}

function cut(text: string, at: string): readonly [string, string | undefined] {
  const index = text.indexOf(at);
  return index === -1 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refuse("is not percent-encoded UTF-8");
  }
}

function requireKnown(name: string): void {
  if (!PARAMETERS.has(name)) throw refuse(`accepts only ${[...PARAMETERS].join(", ")}`);
}

function refuse(rule: string): HelmdeckError {
  return invalidField(FIELD, rule, { named: "The address of the memory database" });
}

function passwordShown(): HelmdeckError {
  return invalidField(
    FIELD,
    "must not hold a password on the command line, where every account of this machine can read it. Put it into a file of mode 0600 that HELMDECK_MEMORY_STORE_PASSWORD_FILE names, or a service file (postgres://?service=NAME). Change the password that was shown",
    { named: "The address of the memory database" },
  );
}
