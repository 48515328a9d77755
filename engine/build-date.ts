/** The day on which this program was made: a clock that shows an earlier time is certainly wrong. */

/** Midnight UTC of the day of the build, in Unix milliseconds; the bundler puts it in. */
declare const __HELMDECK_BUILT_AT__: number | undefined;

/** For the sources as they are: no day before the first release. */
const SOURCES_AT = Date.UTC(2026, 10, 1);

export const BUILT_AT: number =
  typeof __HELMDECK_BUILT_AT__ === "undefined" ? SOURCES_AT : __HELMDECK_BUILT_AT__;
