/** A connection's peer for limits: an IPv4 address, or an IPv6 network, because one client usually has a whole network. */
import { isIPv6 } from "node:net";

/** The IPv6 prefix that a provider gives to one customer: four groups of four digits, 64 bits. */
const NETWORK_GROUPS = 4;
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** Uses the socket's `remoteAddress`, because a header can be forged. */
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
