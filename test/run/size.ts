/** The scale of tests that could repeat without limit: small in `npm test`, large in `npm run test:nightly`. */
const IS_LARGE = process.env.HELMDECK_TEST_SIZE === "large";

export function sized<Size>(usual: Size, large: Size): Size {
  return IS_LARGE ? large : usual;
}
