/**
 * Three sets of tests: the unit tests; those that drive the real OpenClaw gateway; those that start a Docker engine.
 *
 * Any two files can run at the same time, so all go into one queue, the long ones first: at its end every processor still has
 * something to do. A file that needs a gateway or an engine to itself starts its own.
 *
 * Time budget: 25 minutes for all of `npm test` on two processors, of the 30 that CI has. Measured on 2026-11-21 in a clean clone,
 * npm's installation, check and build included, with other work beside most of it: 24 min 7 s by the clock, 1,500 s of processor
 * time besides the containers'. The longest file, Docker's with OpenClaw on the host, took 12.5 minutes of it.
 */
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const GATEWAY_TESTS = "test/gateway/**/*.test.ts";
const DOCKER_TESTS = "test/docker/**/*.test.ts";
const LONGEST_FIRST = ["docker", "gateway", "unit"];
/** One for each processor: many tests wait for processes of their own, so leaving one free, as vitest would, wastes it. */
const WORKERS = Math.max(2, availableParallelism());
/** A gateway needs ten to thirty seconds to start, an `openclaw` command three to fifteen, on two busy cores. */
const GATEWAY_TIMEOUT_MS = 180_000;
/** One run of install.sh is a dozen `openclaw` commands. */
const DOCKER_TIMEOUT_MS = 600_000;
/** Only a defect takes this long; many tests start processes of their own, and the machine may be busy. */
const UNIT_TIMEOUT_MS = 120_000;
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

export default defineConfig({
  test: {
    globalSetup: "test/run/setup.ts",
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    teardownTimeout: TEARDOWN_TIMEOUT_MS,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [GATEWAY_TESTS, DOCKER_TESTS],
          testTimeout: UNIT_TIMEOUT_MS,
          hookTimeout: UNIT_TIMEOUT_MS,
          maxWorkers: WORKERS,
          expect: UNTIL,
        },
      },
      {
        test: {
          name: "gateway",
          include: [GATEWAY_TESTS],
          globalSetup: "test/gateway/setup.ts",
          testTimeout: GATEWAY_TIMEOUT_MS,
          hookTimeout: GATEWAY_TIMEOUT_MS,
          maxWorkers: WORKERS,
          expect: UNTIL,
          maxConcurrency: 2,
        },
      },
      {
        test: {
          name: "docker",
          include: [DOCKER_TESTS],
          globalSetup: "test/docker/setup.ts",
          testTimeout: DOCKER_TIMEOUT_MS,
          hookTimeout: DOCKER_TIMEOUT_MS,
          maxWorkers: WORKERS,
          expect: UNTIL,
        },
      },
    ],
  },
});
