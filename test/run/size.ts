/** How often a test does what it could do any number of times: seldom in `npm test`, often in `npm run test:nightly`. */
const IS_LARGE = process.env.HELMDECK_TEST_SIZE === "large";

export function sized(usual: number, large: number): number {
  return IS_LARGE ? large : usual;
}
