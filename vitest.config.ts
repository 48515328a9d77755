/**
 * Three sets of tests: the unit tests; those that drive the real OpenClaw gateway, and those that start a Docker engine, which
 * take minutes and run one by one.
 */
import { defineConfig } from "vitest/config";

const GATEWAY_TESTS = "test/gateway/**/*.test.ts";
const DOCKER_TESTS = "test/docker/**/*.test.ts";
/** A gateway needs ten to thirty seconds to start, an `openclaw` command three to fifteen, on two busy cores. */
const GATEWAY_TIMEOUT_MS = 180_000;
/** One run of install.sh is a dozen `openclaw` commands. */
const DOCKER_TIMEOUT_MS = 600_000;
/** Only a defect takes this long; many tests start processes of their own, and the machine may be busy. */
const UNIT_TIMEOUT_MS = 60_000;

/** A Docker engine stops its containers first. */
const TEARDOWN_TIMEOUT_MS = 120_000;

export default defineConfig({
  test: {
    teardownTimeout: TEARDOWN_TIMEOUT_MS,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [GATEWAY_TESTS, DOCKER_TESTS],
          testTimeout: UNIT_TIMEOUT_MS,
          hookTimeout: UNIT_TIMEOUT_MS,
        },
      },
      {
        test: {
          name: "gateway",
          include: [GATEWAY_TESTS],
          globalSetup: "test/gateway/setup.ts",
          testTimeout: GATEWAY_TIMEOUT_MS,
          hookTimeout: GATEWAY_TIMEOUT_MS,
          fileParallelism: false,
          maxConcurrency: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "docker",
          include: [DOCKER_TESTS],
          globalSetup: "test/docker/setup.ts",
          testTimeout: DOCKER_TIMEOUT_MS,
          hookTimeout: DOCKER_TIMEOUT_MS,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
