/** Which addresses count as one. */
import { expect, it } from "vitest";
import { peerOf } from "../../server/connections.ts";

it.each([
  ["127.0.0.1", "127.0.0.1"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::1", "0:0:0:0"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::6", "2001:db8:0:0"],
  ["2001:db8:1:2::", "2001:db8:1:2"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  [undefined, "none"],
])("%s is counted as %s", (remoteAddress, peer) => {
  expect(peerOf(remoteAddress)).toBe(peer);
});
