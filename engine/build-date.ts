/** The build date. A clock that shows an earlier time is certainly wrong. */

/** Midnight UTC of the build day, in Unix milliseconds; the bundler sets it. */
declare const __HELMDECK_BUILT_AT__: number | undefined;

/** Used when running from source: a day before the first release. */
const SOURCES_AT = Date.UTC(2026, 10, 1);

export const BUILT_AT: number =
  typeof __HELMDECK_BUILT_AT__ === "undefined" ? SOURCES_AT : __HELMDECK_BUILT_AT__;
