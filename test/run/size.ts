/** The scale of tests that could repeat without limit: small in `npm test`, large in `npm run test:nightly`. */
const IS_LARGE = process.env.HELMDECK_TEST_SIZE === "large";

export function sized(usual: number, large: number): number {
  return IS_LARGE ? large : usual;
}
