/**
 * Validates the address of a served engine before any request.
 *
 * An attacker on the network can read tokens that are sent unencrypted. So plain HTTP is accepted only for this machine and the
 * private networks of its containers, unless the operator allows it.
 */
import { BlockList, isIP } from "node:net";
import { defined } from "../../../engine/defined.ts";
import { type HelmdeckError, invalidField } from "../../../engine/errors.ts";

export interface EngineSettings {
  readonly url: string;
  /** SHA-256 of the only trusted certificate, regardless of its issuer and name. */
  readonly fingerprint256?: string;
  /** PEM file of the only trusted authorities. */
  readonly caFile?: string;
  /** Default false. */
  readonly allowPlainHttp?: boolean;
}

export interface EngineAddress extends EngineSettings {
  /** Without a trailing slash. */
  readonly url: string;
  readonly isPlain: boolean;
  /** For a plain HTTP address given by name: it must resolve to this machine or a private network. */
  readonly mustBePrivate: boolean;
}

/** This machine. */
const LOOPBACK = blockList([
  ["127.0.0.0", 8, "ipv4"],
  ["::1", 128, "ipv6"],
]);
/** Docker's default networks, except those that homes and offices also use. */
const CONTAINERS = blockList([["172.16.0.0", 12, "ipv4"]]);
/** RFC 1918, RFC 4193 and this machine: where a name without dots may resolve to. */
const PRIVATE = blockList([
  ["127.0.0.0", 8, "ipv4"],
  ["10.0.0.0", 8, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["::1", 128, "ipv6"],
  ["fc00::", 7, "ipv6"],
]);
const FINGERPRINT = /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/;

/** Throws `invalid_input`. `nameOf`: a field's name for people. */
export function checkEngineAddress(
  settings: EngineSettings,
  nameOf: (field: string) => string,
): EngineAddress {
  const refuse = (field: string, rule: string) => invalidField(field, rule, { named: nameOf(field) });
  const url = requireUrl(settings.url, (rule) => refuse("url", rule));
  const isPlain = url.protocol === "http:";
  const { allowPlainHttp = false, caFile } = settings;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isPlain && !allowPlainHttp && !mayBePlain(host)) throw refuse("url", PLAIN_RULE);
  const fingerprint256 = fingerprintOf(settings.fingerprint256, refuse);
  if (isPlain && (fingerprint256 ?? caFile) !== undefined) {
    throw refuse("url", "must begin with https:// if a certificate is set");
  }
  return {
    url: url.origin + url.pathname.replace(/\/+$/, ""),
    isPlain,
    mustBePrivate: isPlain && !allowPlainHttp && isIP(host) === 0,
    ...defined({ fingerprint256, caFile }),
  };
}

const PLAIN_RULE =
  "must begin with https://, because plain HTTP would send tokens unencrypted; http:// is accepted for this machine, for a name without dots and for 172.16.0.0/12 (containers), and elsewhere with allowPlainHttp: true";

/** Normalises the usual notations of a certificate's fingerprint. Undefined when none is given. */
function fingerprintOf(
  given: string | undefined,
  refuse: (field: string, rule: string) => HelmdeckError,
): string | undefined {
  if (given === undefined) return undefined;
  const digits = given.replaceAll(/[:\s]/g, "").toUpperCase();
  const written = digits.match(/.{1,2}/g)?.join(":") ?? "";
  if (FINGERPRINT.test(written)) return written;
  throw refuse("fingerprint256", "must be the 64 hexadecimal digits of a certificate's SHA-256");
}

function requireUrl(address: string, refuse: (rule: string) => HelmdeckError): URL {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw refuse("must begin with https:// or http:// and name a host");
  }
  if (url.username !== "" || url.password !== "") {
    throw refuse("must not contain a user name or a password: tokens have their own setting");
  }
  if (url.search !== "" || url.hash !== "") throw refuse("must not have a query or a fragment");
  return url;
}

function mayBePlain(host: string): boolean {
  if (isIP(host) !== 0) return isWithin(LOOPBACK, host) || isWithin(CONTAINERS, host);
  return !host.includes(".");
}

/** Whether plain HTTP may be used for this resolved address. */
export function isPrivateAddress(address: string): boolean {
  return isWithin(PRIVATE, address);
}

function isWithin(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function blockList(ranges: readonly (readonly [string, number, "ipv4" | "ipv6"])[]): BlockList {
  const list = new BlockList();
  for (const [network, bits, family] of ranges) list.addSubnet(network, bits, family);
  return list;
}
