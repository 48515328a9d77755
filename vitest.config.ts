/**
 * The vitest projects and the npm scripts that run them:
 *
 * - `npm test`: the checks, the build, the unit tests, and one file against the real OpenClaw gateway. It needs only Node.
 * - `npm run test:integration`: the other gateway tests (one also on the oldest supported OpenClaw), real Docker engines,
 *   test/durability, the long tests of test/isolation, and the tests that start other programs (`*.integration.test.ts`). Tests
 *   whose programs are not installed are skipped, with the reason.
 * - `npm run test:nightly`: the unit tests, test/durability and the long tests of test/isolation in their large sizes
 *   (test/run/size.ts), more gateway tests on the oldest OpenClaw, and tests with third-party clients (`*.nightly.test.ts`).
 * - `npm run test:mutants`: see test/mutants/README.md.
 *
 * Any two files can run at the same time, except those that share a gateway: these wait for each other (test/gateway/shared.ts). So
 * all projects use one queue. It starts the slowest projects and files first, so that no processor is idle at the end, and spreads
 * the files that share a gateway over the queue, so that none has to wait.
 */
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const TESTS = "test/**/*.test.ts";
const SMOKE_TESTS = "test/smoke/**/*.test.ts";
const GATEWAY_TESTS = ["test/gateway/**/*.test.ts", "test/isolation/openclaw.test.ts"];
/** These files start their own gateways. */
const OWN_GATEWAY_TESTS = [
  "demo",
  "faults",
  "host",
  "hybrid",
  "installer-engine",
  "lifecycle",
  "notes-index",
  "notes-model",
  "share-one-memory",
  "sources",
  "sources-helmdeck",
  "speaks-up",
  "without-network",
].map((name) => `test/gateway/${name}.test.ts`);
/** Runs on each supported OpenClaw version: here on the oldest, with scripts/host-versions.ts on any. */
const EACH_HOST_TEST = "test/gateway/each-host.test.ts";
/** At night and for scripts/host-versions.ts. */
const MORE_ON_OTHER_HOST = ["agent-turn", "commands", "forget-approval", "hybrid"];
const HAS_TIME = process.env.HELMDECK_TEST_SIZE === "large" || process.env.HELMDECK_OPENCLAW !== undefined;
const OTHER_HOST_TESTS = [
  EACH_HOST_TEST,
  SMOKE_TESTS,
  ...(HAS_TIME ? MORE_ON_OTHER_HOST : []).map((name) => `test/gateway/${name}.test.ts`),
];
const DOCKER_TESTS = "test/docker/**/*.test.ts";
const INTEGRATION_TESTS = "test/**/*.integration.test.ts";
const NIGHTLY_TESTS = "test/**/*.nightly.test.ts";
/** Killed processes, power cuts, failing disks, damaged files. Small sizes in `test:integration`, large ones in `test:nightly`. */
const DURABILITY_TESTS = "test/durability/**/*.test.ts";
/** Many operations, clients and races, in the same two sizes. */
const ISOLATION_TESTS = [
  ...["random-operations", "clients"].map((name) => `test/isolation/${name}.test.ts`),
  "test/app/database-server/races.integration.test.ts",
  "test/surfaces/confirmed.integration.test.ts",
];
const NOT_UNIT_TESTS = [
  SMOKE_TESTS,
  ...GATEWAY_TESTS,
  DOCKER_TESTS,
  INTEGRATION_TESTS,
  NIGHTLY_TESTS,
  DURABILITY_TESTS,
  ...ISOLATION_TESTS,
];
const SLOWEST_FIRST = ["docker", "gateway", "durability", "isolation", "nightly", "integration", "unit"];
/** Their files share a gateway. */
const TAKING_TURNS = ["shared-gateway", "other-host", "smoke"];
/** They take longest in their projects, and vitest takes them for short because their texts are. */
const LONG_FILES = [
  "docker/host",
  "gateway/notes-index",
  "gateway/notes-model",
  "docs/tutorial.integration",
  "install/published.integration",
  "shipped/solve",
  "app/rotate-key",
  "store/sqlite-store",
  "store/sqlite-open",
  "server/serve",
  "cli/here",
  "install/installer-lock",
  "surfaces/frame",
];
/** One per processor. vitest would leave one free, but many tests only wait for child processes. */
const WORKERS = Math.max(2, availableParallelism());
/** On two busy cores, a gateway takes 10 to 30 seconds to start, and an `openclaw` command 3 to 15. */
const GATEWAY_TIMEOUT_MS = 180_000;
/** One run of install.sh calls `openclaw` about twelve times. */
const DOCKER_TIMEOUT_MS = 600_000;
/** Generous, because many tests start processes and the machine may be busy. */
const UNIT_TIMEOUT_MS = 120_000;
/** The large sizes take hours. */
const LARGE_TIMEOUT_MS = process.env.HELMDECK_TEST_SIZE === "large" ? 4 * 3_600_000 : 240_000;
/** vitest's default for `expect.poll`, one second, is too short on a busy machine. */
const POLL_LIMITS = { poll: { timeout: 60_000 } };

/** A Docker engine stops its containers before it exits. */
const TEARDOWN_TIMEOUT_MS = 120_000;

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ project }: TestSpecification) => SLOWEST_FIRST.indexOf(project.name);
    const isQuick = ({ moduleId }: TestSpecification) =>
      !LONG_FILES.some((name) => moduleId.endsWith(`/${name}.test.ts`));
    const sorted = (await super.sort(files)).sort(
      (a, b) => rankOf(a) - rankOf(b) || Number(isQuick(a)) - Number(isQuick(b)),
    );
    const { taking = [], free = [] } = Object.groupBy(sorted, ({ project }) =>
      TAKING_TURNS.includes(project.name) ? "taking" : "free",
    );
    // By name: the same file on another host has another gateway.
    const turns = taking.sort((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
    return spread(turns, free);
  }
}

/** Puts the first list's items at equal distances into the second. */
function spread<Item>(items: readonly Item[], into: readonly Item[]): Item[] {
  const apart = Math.ceil(into.length / (items.length + 1));
  const mixed = items.flatMap((item, n) => [...into.slice(n * apart, (n + 1) * apart), item]);
  return [...mixed, ...into.slice(items.length * apart)];
}

const GATEWAY_LIMITS = {
  testTimeout: GATEWAY_TIMEOUT_MS,
  hookTimeout: GATEWAY_TIMEOUT_MS,
  maxWorkers: WORKERS,
  expect: POLL_LIMITS,
  maxConcurrency: 2,
};
const DOCKER_LIMITS = {
  testTimeout: DOCKER_TIMEOUT_MS,
  hookTimeout: DOCKER_TIMEOUT_MS,
  maxWorkers: WORKERS,
  expect: POLL_LIMITS,
};
const UNIT_LIMITS = {
  testTimeout: UNIT_TIMEOUT_MS,
  hookTimeout: UNIT_TIMEOUT_MS,
  maxWorkers: WORKERS,
  expect: POLL_LIMITS,
};

/** Starts the gateway that several test files share. */
const SHARED_GATEWAY = "test/gateway/setup.ts";

export default defineConfig({
  test: {
    globalSetup: "test/run/setup.ts",
    maxWorkers: WORKERS,
    sequence: { sequencer: SlowestFirst },
    teardownTimeout: TEARDOWN_TIMEOUT_MS,
    projects: [
      {
        test: {
          name: "unit",
          include: [TESTS],
          exclude: NOT_UNIT_TESTS,
          // The files share a process for each processor: to load the modules anew for each file takes a quarter of the time.
          isolate: false,
          ...UNIT_LIMITS,
        },
      },
      { test: { name: "smoke", include: [SMOKE_TESTS], globalSetup: SHARED_GATEWAY, ...GATEWAY_LIMITS } },
      {
        test: {
          name: "gateway",
          include: OWN_GATEWAY_TESTS,
          globalSetup: "test/gateway/pack.ts",
          ...GATEWAY_LIMITS,
        },
      },
      {
        test: {
          name: "shared-gateway",
          include: GATEWAY_TESTS,
          exclude: [...OWN_GATEWAY_TESTS, EACH_HOST_TEST, NIGHTLY_TESTS],
          globalSetup: SHARED_GATEWAY,
          ...GATEWAY_LIMITS,
        },
      },
      {
        test: {
          name: "other-host",
          include: OTHER_HOST_TESTS,
          globalSetup: "test/gateway/other-host.ts",
          ...GATEWAY_LIMITS,
        },
      },
      {
        test: {
          name: "docker",
          include: [DOCKER_TESTS],
          exclude: [NIGHTLY_TESTS],
          globalSetup: "test/docker/setup.ts",
          ...DOCKER_LIMITS,
        },
      },
      {
        test: { name: "integration", include: [INTEGRATION_TESTS], exclude: ISOLATION_TESTS, ...UNIT_LIMITS },
      },
      { test: { name: "nightly", include: [NIGHTLY_TESTS], ...UNIT_LIMITS } },
      {
        test: {
          name: "durability",
          include: [DURABILITY_TESTS],
          ...UNIT_LIMITS,
          testTimeout: LARGE_TIMEOUT_MS,
        },
      },
      {
        test: {
          name: "isolation",
          include: ISOLATION_TESTS,
          ...UNIT_LIMITS,
          testTimeout: LARGE_TIMEOUT_MS,
        },
      },
    ],
  },
});
