/** The exit codes of install.sh. */
export const EXIT = {
  done: 0,
  user: 1,
  prerequisite: 2,
  sidecar: 3,
  openclaw: 4,
  smokeTest: 5,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
