/**
 * A server on loopback with the part of GitHub's REST API that lists issues: pages with Link headers, filters, and the error responses
 * that https://docs.github.com/en/rest describes.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

interface Asked {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
  readonly version: string | undefined;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface GitHubServer {
  readonly baseUrl: string;
  readonly asked: Asked[];
  /** Answers every later request instead of the API. */
  answerWith(answer: Answer | undefined): void;
}

export interface FakeIssue {
  readonly number: number;
  readonly title?: string;
  readonly labels?: readonly object[];
  readonly pull_request?: object;
  readonly body?: string | null;
}

export async function startGitHub(issues: readonly FakeIssue[] = []): Promise<GitHubServer> {
  const asked: Asked[] = [];
  let instead: Answer | undefined;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", baseUrl);
    asked.push({
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      authorization: request.headers.authorization,
      version: String(request.headers["x-github-api-version"]),
    });
    if (instead !== undefined) return instead(request, response);
    if (!/^\/api\/v3\/repos\/[^/]+\/[^/]+\/issues$/.test(url.pathname)) return notFound(response);
    sendPage(response, url, issues);
  });
  const answerWith = (answer: Answer | undefined) => {
    instead = answer;
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`;
  return { baseUrl, asked, answerWith };
}

/** An error in GitHub's format: a JSON body with message and documentation. */
export function refusal(
  status: number,
  message: string,
  headers: Readonly<Record<string, string | number>> = {},
): Answer {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers });
    response.end(
      JSON.stringify({ message, documentation_url: "https://docs.github.com/rest", status: `${status}` }),
    );
  };
}

function sendPage(response: ServerResponse, url: URL, issues: readonly FakeIssue[]): void {
  const page = Number(url.searchParams.get("page") ?? "1");
  const size = Number(url.searchParams.get("per_page") ?? "30");
  const last = Math.max(1, Math.ceil(issues.length / size));
  const link = (to: number, rel: string) => {
    const there = new URL(url);
    there.searchParams.set("page", String(to));
    return `<${there}>; rel="${rel}"`;
  };
  const links = page < last ? [link(page + 1, "next"), link(last, "last")] : [];
  response.writeHead(200, {
    "content-type": "application/json; charset=utf-8",
    ...(links.length > 0 && { link: links.join(", ") }),
  });
  response.end(JSON.stringify(issues.slice((page - 1) * size, page * size).map(whole)));
}

function whole({ number, ...more }: FakeIssue): object {
  return {
    id: number * 1_000,
    number,
    title: `Issue ${number}`,
    state: "open",
    state_reason: null,
    user: { login: "octocat", id: 1 },
    labels: [{ id: 2, name: "bug", color: "f29513" }, "plain"],
    assignees: [{ login: "hubot" }],
    milestone: { title: "v1" },
    comments: 3,
    created_at: "2026-11-01T10:00:00Z",
    updated_at: "2026-11-02T10:00:00Z",
    closed_at: null,
    html_url: `https://github.example.org/octo/hello/issues/${number}`,
    body: "It fails.",
    ...more,
  };
}

function notFound(response: ServerResponse): void {
  refusal(404, "Not Found")({} as IncomingMessage, response);
}
