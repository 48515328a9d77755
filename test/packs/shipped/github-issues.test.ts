/** `github.list_issues` against a server with GitHub's API: pages, filters, the cache, and errors. */
import { describe, expect, it } from "vitest";
import type { PackRun } from "../../../packs/engine/pack-contract.ts";
import type { GitHubOptions } from "../../../packs/shipped/github-client.ts";
import { gitHubIssuesPack } from "../../../packs/shipped/github-issues.ts";
import { NOW } from "../../app/fixtures/memories.ts";
import { ask, failureOf, openPackRig } from "../engine/rig.ts";
import { type FakeIssue, refusal, startGitHub } from "./github-server.ts";

const TOKEN = "ghp_canary0123456789";
const JSON_TYPE = { "content-type": "application/json" };
const INPUT = { owner: "octo", repo: "hello" };

const numbered = (count: number): FakeIssue[] =>
  Array.from({ length: count }, (_, at) => ({ number: count - at }));

async function rig(issues: readonly FakeIssue[] = numbered(3), options: GitHubOptions = {}) {
  const gitHub = await startGitHub(issues);
  const packRig = await openPackRig([gitHubIssuesPack({ baseUrl: gitHub.baseUrl, ...options })]);
  const list = (input: object = {}, more: { caller?: string; signal?: AbortSignal } = {}) =>
    packRig.engine.run(ask("github.list_issues", { ...INPUT, ...input }, more));
  const failure = (input: object = {}) => failureOf(list(input));
  return { gitHub, packRig, list, failure };
}

interface Output {
  readonly issues: readonly { readonly number: number; readonly body?: string }[];
  readonly truncated: boolean;
}
const outputOf = (run: PackRun) => run.output as Output; // the engine checked it against the pack's schema
const numbersOf = (run: PackRun) => outputOf(run).issues.map(({ number }) => number);

describe("the list", () => {
  it("has the fields of each issue, newest first", async () => {
    const { list, gitHub } = await rig([{ number: 7 }]);
    expect((await list()).output).toEqual({
      issues: [
        {
          number: 7,
          title: "Issue 7",
          state: "open",
          author: "octocat",
          labels: ["bug", "plain"],
          assignees: ["hubot"],
          milestone: "v1",
          comments: 3,
          created_at: "2026-11-01T10:00:00Z",
          updated_at: "2026-11-02T10:00:00Z",
          url: "https://github.example.org/octo/hello/issues/7",
        },
      ],
      count: 1,
      truncated: false,
    });
    expect(gitHub.asked).toEqual([
      {
        path: "/api/v3/repos/octo/hello/issues",
        query: { state: "open", sort: "created", direction: "desc", per_page: "100" },
        authorization: undefined,
        version: "2022-11-28",
      },
    ]);
  });

  it("is filtered by GitHub with the given filters", async () => {
    const { list, gitHub } = await rig();
    const since = "2026-01-01T00:00:00Z";
    await list({ state: "all", labels: ["bug", "good first issue"], assignee: "*", since });
    expect(gitHub.asked[0]?.query).toMatchObject({
      state: "all",
      labels: "bug,good first issue",
      assignee: "*",
      since,
    });
  });

  it("accepts the input of helmdeck's clients too: owner/name, and labels separated by commas", async () => {
    const { list, gitHub } = await rig(numbered(2));
    const theirs = { owner: undefined, repo: "octo/hello", labels: "bug,good first issue" };
    expect((await list(theirs)).output).toMatchObject({ issues: [{}, {}], count: 2 });
    await list({ labels: ["bug", "good first issue"] });
    const [first, second] = gitHub.asked;
    expect(first).toEqual(second);
  });

  it("reads pages up to the limit, and reports whether there are more issues", async () => {
    const { list, gitHub } = await rig(numbered(250));
    const some = await list({ limit: 120 });
    expect(numbersOf(some)).toEqual(Array.from({ length: 120 }, (_, at) => 250 - at));
    expect(outputOf(some).truncated).toBe(true);
    expect(gitHub.asked).toHaveLength(2);
    const all = await list({ limit: 250 });
    expect(numbersOf(all)).toHaveLength(250);
    expect(outputOf(all).truncated).toBe(false);
  });

  it("leaves out pull requests, and does not count them", async () => {
    const mixed = numbered(150).map((issue) =>
      issue.number % 3 === 0 ? issue : { ...issue, pull_request: {} },
    );
    const { list } = await rig(mixed);
    expect(numbersOf(await list({ limit: 40 }))).toEqual(Array.from({ length: 40 }, (_, at) => 150 - 3 * at));
  });

  it("stops after 30 pages of pull requests only, and reports that it is truncated", async () => {
    const { list, gitHub } = await rig(numbered(4_000).map((issue) => ({ ...issue, pull_request: {} })));
    expect((await list()).output).toEqual({ issues: [], count: 0, truncated: true });
    expect(gitHub.asked).toHaveLength(30);
  });

  it("includes the issues' texts on request, and shortens long ones", async () => {
    const { list } = await rig([
      { number: 2, body: "x".repeat(5_000) },
      { number: 1, body: null },
    ]);
    const { issues } = outputOf(await list({ include_body: true }));
    expect(issues).toMatchObject([{ body: "x".repeat(4_000), body_truncated: true }, { body: "" }]);
  });

  it("shows invisible characters as code points, so that a person sees what a model reads", async () => {
    const hidden = "\u{e0041}\u202e\u0007";
    const { list } = await rig([
      { number: 1, title: `a${hidden}\nb`, body: `c${hidden}\nd`, labels: [{ name: `e${hidden}` }] },
    ]);
    const spelt = "[U+E0041][U+202E][U+0007]";
    expect(outputOf(await list({ include_body: true })).issues).toMatchObject([
      { title: `a${spelt} b`, body: `c${spelt}\nd`, labels: [`e${spelt}`] },
    ]);
  });
});

describe("the input", () => {
  const REPO_ONLY = ["../hello", "octo/..", "octo/hello/x"].map((repo) => ({ owner: undefined, repo }));
  it.each([
    ...REPO_ONLY,
    ...["../octo", "", "a/b", undefined].map((owner) => ({ owner })),
    ...["..", "a/b", "a?x=1"].map((repo) => ({ repo })),
    ...["", "a,,b", ["a,b"], [""]].map((labels) => ({ labels })),
    ...[0, 1_001, 1.5].map((limit) => ({ limit })),
    ...[{ state: "merged" }, { since: "yesterday" }, { assignee: "a b" }, { unknown: 1 }],
  ])("%j is refused without a request to GitHub", async (input) => {
    const { failure, gitHub } = await rig();
    expect(await failure(input)).toMatchObject({ code: "invalid_input" });
    expect(gitHub.asked).toEqual([]);
  });
});

describe("the cache", () => {
  it("answers the same request for five minutes, to the same caller only", async () => {
    const { list, gitHub, packRig } = await rig();
    const first = await list({ labels: ["bug"] });
    const second = await list({ labels: ["bug"] });
    expect([first.cached, second.cached]).toEqual([false, true]);
    expect(second.output).toEqual(first.output);
    expect((await list({ labels: ["bug"] }, { caller: "ben" })).cached).toBe(false);
    packRig.clock.pass(300_000);
    expect((await list({ labels: ["bug"] })).cached).toBe(false);
    expect(gitHub.asked).toHaveLength(3);
  });

  it("stores nothing that was read with the operator's token", async () => {
    const { list, gitHub, packRig } = await rig(numbered(1), { token: TOKEN });
    await list();
    expect((await list()).cached).toBe(false);
    expect(gitHub.asked.map(({ authorization }) => authorization)).toEqual([
      `token ${TOKEN}`,
      `token ${TOKEN}`,
    ]);
    expect(await packRig.entries("cache")).toEqual([]);
    expect(packRig.engine.list()[0]?.cached).toBe(false);
  });

  it("stores no failure", async () => {
    const { list, failure, gitHub } = await rig();
    gitHub.answerWith(refusal(502, "Bad Gateway"));
    expect(await failure()).toMatchObject({ code: "upstream_failed" });
    gitHub.answerWith(undefined);
    expect(numbersOf(await list())).toEqual([3, 2, 1]);
  });
});

describe("a rate limit", () => {
  const reset = Math.floor(NOW / 1_000) + 1_234;
  const spent = (until: number) => ({ "x-ratelimit-remaining": 0, "x-ratelimit-reset": until });
  const EXCEEDED = "API rate limit exceeded for 127.0.0.1.";
  const SECONDARY = "You have exceeded a secondary rate limit.";
  const retry = { "retry-after": 30, "x-ratelimit-remaining": 4_000 };
  it.each([
    ["primary, 403", refusal(403, EXCEEDED, spent(reset)), 1_234],
    ["primary, 429", refusal(429, EXCEEDED, spent(reset)), 1_234],
    ["primary, with the reset time passed", refusal(403, EXCEEDED, spent(reset - 9_999)), 1],
    ["secondary, with retry-after", refusal(403, SECONDARY, retry), 30],
    ["secondary, without retry-after", refusal(403, SECONDARY), 60],
    ["a 429 without details", refusal(429, "Too many requests"), 60],
  ])("reports how long to wait: %s", async (_kind, answer, retryAfterSeconds) => {
    const { failure, gitHub } = await rig();
    gitHub.answerWith(answer);
    const error = await failure();
    expect(error).toMatchObject({ code: "rate_limited", details: { service: "github", retryAfterSeconds } });
    expect(error.message).toContain(`${retryAfterSeconds} s`);
  });
});

describe("a refusal", () => {
  it.each([
    [401, "Bad credentials", "pack_failed", /token/],
    [403, "Resource not accessible by personal access token", "pack_failed", /right/],
    [404, "Not Found", "not_found", /no such repository/],
    [409, "Git Repository is empty.", "upstream_failed", /409/],
    [410, "Issues are disabled for this repo", "pack_failed", /disabled/],
    [422, "Validation Failed", "invalid_input", /filters/],
    [500, "Server Error", "upstream_failed", /500/],
    [503, "Service unavailable", "upstream_failed", /503/],
  ])(
    "%i becomes our own message, without the token or GitHub's text",
    async (status, message, code, words) => {
      const { failure, gitHub, packRig } = await rig(numbered(1), { token: TOKEN });
      gitHub.answerWith(refusal(status, `${message} ${TOKEN}`));
      const error = await failure();
      expect(error).toMatchObject({ code, message: expect.stringMatching(words) });
      expect(JSON.stringify({ ...error, message: error.message, cause: String(error.cause) })).not.toContain(
        TOKEN,
      );
      expect(await packRig.rows()).toMatchObject([{ pack: "github.list_issues", outcome: code }]);
    },
  );

  it.each([
    ["that is not JSON", "<html>"],
    ["that is not a list", "{}"],
    ["with malformed issues", '[{"number":"1"}]'],
  ])("an answer %s is an error, not an empty list", async (_what, body) => {
    const { failure, gitHub } = await rig();
    gitHub.answerWith((_request, response) => void response.writeHead(200, JSON_TYPE).end(body));
    expect(await failure()).toMatchObject({ code: "upstream_failed" });
  });
});

describe("a bad connection", () => {
  it("that breaks is an error, also in the middle of an answer", async () => {
    const { failure, gitHub } = await rig();
    gitHub.answerWith((request) => void request.socket.destroy());
    expect(await failure()).toMatchObject({ code: "upstream_failed", message: /cannot be reached/ });
    gitHub.answerWith((request, response) => {
      response.writeHead(200, JSON_TYPE);
      response.write('[{"number":', () => request.socket.destroy());
    });
    expect(await failure()).toMatchObject({ code: "upstream_failed" });
  });

  it("without an answer ends after a time limit", async () => {
    const { failure, gitHub } = await rig(numbered(1), { requestTimeoutMs: 100 });
    gitHub.answerWith(() => {});
    expect(await failure()).toMatchObject({ code: "upstream_failed", message: /in time/ });
  });

  it("is closed at once when the caller leaves", async () => {
    const { list, gitHub } = await rig(numbered(1), { requestTimeoutMs: 600_000 });
    const leaving = new AbortController();
    const closed = new Promise<void>((resolve) => {
      gitHub.answerWith((request) => {
        request.socket.once("close", () => resolve());
        leaving.abort();
      });
    });
    await expect(list({}, { signal: leaving.signal })).rejects.toMatchObject({ code: "cancelled" });
    await closed;
  });

  it("with an endless answer is closed", async () => {
    const { failure, gitHub } = await rig();
    gitHub.answerWith((request, response) => {
      response.writeHead(200, JSON_TYPE);
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(1_048_576, "["))) {}
      };
      response.on("drain", more);
      request.socket.on("error", () => {});
      more();
    });
    expect(await failure()).toMatchObject({ code: "upstream_failed" });
  });
});

describe("the token", () => {
  it("is not sent to a next page on another host", async () => {
    const { failure, gitHub } = await rig(numbered(1), { token: TOKEN });
    const other = await startGitHub();
    gitHub.answerWith((_request, response) => {
      const link = `<${other.baseUrl}/repos/octo/hello/issues?page=2>; rel="next"`;
      response.writeHead(200, { ...JSON_TYPE, link }).end("[]");
    });
    expect(await failure()).toMatchObject({ code: "upstream_failed", message: /another host/ });
    expect(other.asked).toEqual([]);
  });

  it.each([
    "http://github.example.org",
    "ftp://github.example.org",
    "https://u:p@github.example.org",
    "github",
    "",
  ])("is not sent to %j", (baseUrl) => {
    expect(() => gitHubIssuesPack({ token: TOKEN, baseUrl })).toThrow("must be https://");
  });
});
