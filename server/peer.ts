/** The other end of a connection, as limits count it: an address of IPv4, or a network of IPv6, of which one client has all. */
import { isIPv6 } from "node:net";

/** How much of an IPv6 address a provider gives to one customer: four groups of four digits, 64 bits. */
const NETWORK_GROUPS = 4;
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** `remoteAddress` of a socket; a header could say anything. */
export function peerOf(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return "none";
  const mapped = MAPPED_IPV4.exec(remoteAddress)?.[1];
  if (mapped !== undefined) return mapped;
  return isIPv6(remoteAddress) ? networkOf(remoteAddress) : remoteAddress;
}

function networkOf(address: string): string {
  const [head = "", tail] = address.split("%", 1)[0]?.split("::") ?? [];
  const groups = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - last.length) }, () => "0");
  return [...groups, ...zeros, ...last].slice(0, NETWORK_GROUPS).join(":");
}
