/** Server failures that tests request. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { INFINITE, sendError } from "./answers.ts";

/** The failure of the next answers. Without `times`, it lasts until it is removed. */
export interface Fault {
  readonly kind:
    | "hang"
    | "status"
    | "reset"
    | "redirect"
    | "html"
    | "not_json"
    | "endless"
    | "drip"
    | "cut_stream"
    | "silent_stream"
    | "echo"
    | "wrong_dimensions"
    | "mixed_dimensions"
    | "infinite"
    | "null_number"
    | "zeros"
    | "one_too_few"
    | "one_too_many"
    | "reversed"
    | "context_overflow";
  readonly times?: number;
  /** Affects requests whose path starts with this; by default all paths of the API. */
  readonly path?: string;
  /** Only for the fault `status`. */
  readonly status?: number;
  readonly error?: string;
  readonly retryAfter?: string;
}

/** Returns true if the fault replaces the complete answer. */
export function failWhole(
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
): boolean {
  switch (fault.kind) {
    case "hang":
      return true;
    case "reset":
      request.socket.resetAndDestroy();
      return true;
    case "redirect":
      response.writeHead(307, { location: "/stand-in/requests" }).end();
      return true;
    case "html":
      response.writeHead(200, { "content-type": "text/html" }).end("<html>Please sign in</html>");
      return true;
    case "not_json":
      response.writeHead(200, { "content-type": "application/json" }).end('{"embeddings": [[0.1,');
      return true;
    case "endless":
      pour(response);
      return true;
    case "drip":
      response.writeHead(200, { "content-type": "application/json" }).write('{"embeddings": [[0.1,');
      return true;
    case "echo":
      sendError(response, fault.status ?? 500, `${request.headers.authorization} ${body}`);
      return true;
    case "status":
      if (fault.status === undefined) return false;
      if (fault.retryAfter !== undefined) response.setHeader("retry-after", fault.retryAfter);
      sendError(response, fault.status, fault.error ?? "the stand-in was told to fail");
      return true;
    default:
      return false;
  }
}

/** Sends data until the client closes the connection. */
function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(1024 * 1024, "[0.1,");
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.writeHead(200, { "content-type": "application/json" }).on("drain", more);
  more();
}

type Raw = readonly (readonly unknown[])[];

export function distorted(vectors: readonly (readonly number[])[], fault: Fault | undefined): Raw {
  const withFirst = (first: (vector: readonly number[]) => readonly unknown[]): Raw =>
    vectors.map((vector, at) => (at === vectors.length - 1 ? first(vector) : vector));
  switch (fault?.kind) {
    case "wrong_dimensions":
      return vectors.map((vector) => vector.slice(1));
    case "mixed_dimensions":
      return withFirst((vector) => vector.slice(1));
    case "infinite":
      return withFirst((vector) => [INFINITE, ...vector.slice(1)]);
    case "null_number":
      return withFirst((vector) => [null, ...vector.slice(1)]);
    case "zeros":
      return withFirst((vector) => vector.map(() => 0));
    case "one_too_few":
      return vectors.slice(1);
    case "one_too_many":
      return [...vectors, ...vectors.slice(0, 1)];
    default:
      return vectors;
  }
}
