/**
 * The connections to a served engine: whom they lead to is settled before a token goes over them.
 *
 * Agents of our own ask no proxy, whatever the environment names. Reading goes over connections that are kept; each write has one of
 * its own, since an engine that closes a kept one at that moment would leave it in doubt whether the write was done.
 */
import { lookup } from "node:dns";
import { readFileSync } from "node:fs";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { LookupFunction } from "node:net";
import { type ConnectionOptions, connect } from "node:tls";
import { type EngineAddress, isPrivateAddress } from "./engine-address.ts";

export interface EngineAgents {
  readonly reading: HttpAgent;
  readonly writing: HttpAgent;
}

const MOST_CONNECTIONS = 16;
const READING = { keepAlive: true, maxSockets: MOST_CONNECTIONS, maxFreeSockets: 4 };
const WRITING = { keepAlive: false, maxSockets: MOST_CONNECTIONS };

/** What a connection is refused for; `code` as system errors have one. */
class ConnectionRefusal extends Error {
  readonly code: "OTHER_CERTIFICATE" | "NOT_PRIVATE";

  constructor(code: ConnectionRefusal["code"]) {
    super(code);
    this.code = code;
  }
}

/** Throws where the file of authorities cannot be read. */
export function makeAgents(address: EngineAddress): EngineAgents {
  const make = agentMaker(address);
  return { reading: make(READING), writing: make(WRITING) };
}

function agentMaker({ isPlain, mustBePrivate, fingerprint256, caFile }: EngineAddress) {
  if (isPlain) {
    const guarded = mustBePrivate ? { lookup: privateLookup } : {};
    return (options: typeof READING | typeof WRITING) => new HttpAgent({ ...options, ...guarded });
  }
  if (fingerprint256 !== undefined) {
    return (options: typeof READING | typeof WRITING) => new PinnedAgent(options, fingerprint256);
  }
  const trusted = caFile === undefined ? {} : { ca: readFileSync(caFile) };
  return (options: typeof READING | typeof WRITING) => new HttpsAgent({ ...options, ...trusted });
}

/** A name without dots is a container's as a rule; where it leads out of private networks, nothing is sent. */
const privateLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error !== null) return callback(error, []);
    const isPrivate = found.every(({ address }) => isPrivateAddress(address));
    if (!isPrivate) return callback(new ConnectionRefusal("NOT_PRIVATE"), []);
    const [first] = found;
    if (options.all === true || first === undefined) return callback(null, found);
    return callback(null, first.address, first.family);
  });
};

/** Hands a connection over only when the other side has shown this very certificate. */
class PinnedAgent extends HttpsAgent {
  readonly #fingerprint: string;

  constructor(options: typeof READING | typeof WRITING, fingerprint: string) {
    super(options);
    this.#fingerprint = fingerprint;
  }

  override createConnection(...[options, callback]: Parameters<HttpsAgent["createConnection"]>) {
    // Our own check takes the place of the authorities': the certificate may be self-signed. No session is resumed, since a
    // resumed one shows no certificate.
    const socket = connect({ ...(options as ConnectionOptions), rejectUnauthorized: false });
    const failed = (error: Error) => callback?.(error, socket);
    socket.once("error", failed);
    socket.once("secureConnect", () => {
      socket.off("error", failed);
      if (socket.getPeerCertificate().fingerprint256 === this.#fingerprint) return callback?.(null, socket);
      socket.destroy();
      return failed(new ConnectionRefusal("OTHER_CERTIFICATE"));
    });
    return undefined;
  }
}
