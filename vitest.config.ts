/**
 * Four runs, so that what is run often stays short:
 *
 * - `npm test`: the checks, the build, the unit tests, one file against the real OpenClaw gateway. Nothing but Node is needed.
 * - `npm run test:integration`: the other gateway files, some of them on the oldest OpenClaw too, a real Docker engine, what a failing machine does to the data
 *   (test/durability), isolation and many clients (test/isolation), and what needs programs that are installed beside Node
 *   (`*.integration.test.ts`). What such a file needs and does not find is left out, with the reason.
 * - `npm run test:nightly`: the unit tests, test/durability and test/isolation again in their large sizes (test/run/size.ts),
 *   and other people's clients (`*.nightly.test.ts`).
 * - `npm run test:mutants`: test/mutants/README.md.
 *
 * But for those that share a gateway, any two files can run at the same time, so all go into one queue, the long ones first: at
 * its end every processor still has something to do. A file that needs a gateway or an engine to itself starts its own.
 */
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const TESTS = "test/**/*.test.ts";
const SMOKE_TESTS = "test/smoke/**/*.test.ts";
const GATEWAY_TESTS = "test/gateway/**/*.test.ts";
/** Each starts gateways of its own. */
const OWN_GATEWAY_TESTS = [
  "demo",
  "faults",
  "host",
  "hybrid",
  "installer-engine",
  "lifecycle",
  "notes-index",
  "share-one-memory",
  "sources",
  "sources-helmdeck",
].map((name) => `test/gateway/${name}.test.ts`);
/** What is tried on every OpenClaw that the plugin runs on: here on the oldest, by scripts/host-versions.ts on any. */
const EACH_HOST_TEST = "test/gateway/each-host.test.ts";
const OTHER_HOST_TESTS = [
  EACH_HOST_TEST,
  SMOKE_TESTS,
  ...["agent-turn", "commands", "forget-approval", "hybrid"].map((name) => `test/gateway/${name}.test.ts`),
];
const DOCKER_TESTS = "test/docker/**/*.test.ts";
const INTEGRATION_TESTS = "test/**/*.integration.test.ts";
const NIGHTLY_TESTS = "test/**/*.nightly.test.ts";
/** Kills, power cuts, failing disks, damage: in their small sizes with `test:integration`, in the large ones with `test:nightly`. */
const DURABILITY_TESTS = "test/durability/**/*.test.ts";
/** Many operations and many clients: sizes and runs as those of durability. */
const ISOLATION_TESTS = "test/isolation/**/*.test.ts";
const ALL_BUT_UNIT = [
  SMOKE_TESTS,
  GATEWAY_TESTS,
  DOCKER_TESTS,
  INTEGRATION_TESTS,
  NIGHTLY_TESTS,
  DURABILITY_TESTS,
  ISOLATION_TESTS,
];
const LONGEST_FIRST = [
  "docker",
  "gateway",
  "shared-gateway",
  "other-host",
  "smoke",
  "durability",
  "isolation",
  "nightly",
  "integration",
  "unit",
];
/** One for each processor: many tests wait for processes of their own, so leaving one free, as vitest would, wastes it. */
const WORKERS = Math.max(2, availableParallelism());
/** A gateway needs ten to thirty seconds to start, an `openclaw` command three to fifteen, on two busy cores. */
const GATEWAY_TIMEOUT_MS = 180_000;
/** One run of install.sh is a dozen `openclaw` commands. */
const DOCKER_TIMEOUT_MS = 600_000;
/** Only a defect takes this long; many tests start processes of their own, and the machine may be busy. */
const UNIT_TIMEOUT_MS = 120_000;
/** The large sizes take hours. */
const LARGE_TIMEOUT_MS = process.env.HELMDECK_TEST_SIZE === "large" ? 4 * 3_600_000 : 240_000;
/** For `expect.poll`, which asks until it is so; vitest's own second is short on a busy machine. */
const UNTIL = { poll: { timeout: 60_000 } };

/** A Docker engine stops its containers first. */
const TEARDOWN_TIMEOUT_MS = 120_000;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ project }: TestSpecification) => LONGEST_FIRST.indexOf(project.name);
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b));
  }
}

const GATEWAY_LIMITS = {
  testTimeout: GATEWAY_TIMEOUT_MS,
  hookTimeout: GATEWAY_TIMEOUT_MS,
  maxWorkers: WORKERS,
  expect: UNTIL,
  maxConcurrency: 2,
};
const DOCKER_LIMITS = {
  testTimeout: DOCKER_TIMEOUT_MS,
  hookTimeout: DOCKER_TIMEOUT_MS,
  maxWorkers: WORKERS,
  expect: UNTIL,
};
const UNIT_LIMITS = {
  testTimeout: UNIT_TIMEOUT_MS,
  hookTimeout: UNIT_TIMEOUT_MS,
  maxWorkers: WORKERS,
  expect: UNTIL,
};

/** Starts the gateway that several files share. */
const SHARED_GATEWAY = "test/gateway/setup.ts";
/**
 * The files that share a gateway run one after the other. OpenClaw keeps one agent's database open at a time and gives its
 * state database five seconds; where several agents' turns and `openclaw` commands come at once on a busy machine, a turn
 * ends with "Agent database cleanup failed" or "database is locked", and so do that agent's next ones.
 */
const ONE_AFTER_THE_OTHER = { maxWorkers: 1 };

export default defineConfig({
  test: {
    globalSetup: "test/run/setup.ts",
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    teardownTimeout: TEARDOWN_TIMEOUT_MS,
    projects: [
      { test: { name: "unit", include: [TESTS], exclude: ALL_BUT_UNIT, ...UNIT_LIMITS } },
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
          include: [GATEWAY_TESTS],
          exclude: [...OWN_GATEWAY_TESTS, EACH_HOST_TEST],
          globalSetup: SHARED_GATEWAY,
          ...GATEWAY_LIMITS,
          ...ONE_AFTER_THE_OTHER,
        },
      },
      {
        test: {
          name: "other-host",
          include: OTHER_HOST_TESTS,
          globalSetup: "test/gateway/other-host.ts",
          ...GATEWAY_LIMITS,
          ...ONE_AFTER_THE_OTHER,
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
      { test: { name: "integration", include: [INTEGRATION_TESTS], ...UNIT_LIMITS } },
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
          include: [ISOLATION_TESTS],
          ...UNIT_LIMITS,
          testTimeout: LARGE_TIMEOUT_MS,
        },
      },
    ],
  },
});
