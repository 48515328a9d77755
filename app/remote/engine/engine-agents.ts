/**
 * The connections to a served engine; the server is verified before a token is sent.
 *
 * Our own agents ignore proxies from the environment. Reads use keep-alive connections. Each write uses a new one: if the engine
 * closed a kept one at that moment, it would be unknown whether the write was done.
 */
import { lookup } from "node:dns";
import { readFileSync, statSync } from "node:fs";
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

/** The error of a refused connection; `code` as in system errors. */
class ConnectionRefusal extends Error {
  readonly code: "OTHER_CERTIFICATE" | "NOT_PRIVATE";

  constructor(code: ConnectionRefusal["code"]) {
    super(code);
    this.code = code;
  }
}

/** Throws when the file of authorities is unreadable. */
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
  const trusted = caFile === undefined ? {} : { ca: certificatesIn(caFile) };
  return (options: typeof READING | typeof WRITING) => new HttpsAgent({ ...options, ...trusted });
}

/** The caller tells of any error. Reading a named pipe would stop this thread. */
function certificatesIn(path: string): Buffer {
  if (!statSync(path).isFile()) throw new TypeError("not a regular file");
  return readFileSync(path);
}

/** A name without dots usually is a container's; when it resolves outside of private networks, nothing is sent. */
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

/** Returns a connection only after the server has presented exactly this certificate. */
class PinnedAgent extends HttpsAgent {
  readonly #fingerprint: string;

  constructor(options: typeof READING | typeof WRITING, fingerprint: string) {
    super(options);
    this.#fingerprint = fingerprint;
  }

  override createConnection(...[options, callback]: Parameters<HttpsAgent["createConnection"]>) {
    // Our own check replaces that of the authorities: the certificate may be self-signed. Sessions are not resumed, since a
    // resumed one presents no certificate.
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
