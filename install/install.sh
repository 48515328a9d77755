#!/bin/sh
# Puts helmdeck memory into OpenClaw, with an embedding sidecar, and checks that it works: install.sh --help
#
# All of it is one block, so that a copy that was cut off does nothing. The steps are in install/*.ts. In a clone they are
# built first (that installs the clone's own dependencies, once); the npm package brings them built.
{
  set -eu

  # The folder of the package: this file's own, behind any links, and one up.
  self=$0
  while [ -L "$self" ]; do
    link=$(readlink "$self")
    case $link in
      /*) self=$link ;;
      *) self=$(dirname "$self")/$link ;;
    esac
  done
  root=$(CDPATH='' cd "$(dirname "$self")/.." && pwd -P)

  is_new_enough() {
    "$1" -e 'var v = process.versions.node.split(".").map(Number); process.exit(v[0] > 24 || (v[0] === 24 && v[1] >= 16) ? 0 : 1)' >/dev/null 2>&1
  }

  # A Node that can run this: the one that is named, the one in the path, the one that a clone brings.
  node=
  for candidate in "${HELMDECK_NODE:-}" node "$root/node_modules/node/bin/node"; do
    if [ -n "$candidate" ] && is_new_enough "$candidate"; then
      node=$candidate
      break
    fi
  done

  if [ -f "$root/scripts/with-deps.mjs" ]; then
    # A clone: its own scripts bring the pinned Node, and build what is out of date.
    if ! command -v node >/dev/null 2>&1 && [ -z "$node" ]; then
      echo "! Node is not on this machine. Install Node 24.16 or later (https://nodejs.org), which OpenClaw needs too." >&2
      exit 2
    fi
    "${node:-node}" "$root/scripts/with-deps.mjs" --exec node scripts/build/build.ts >/dev/null || {
      echo "! The clone could not be built; the lines above say why." >&2
      exit 2
    }
    [ -n "$node" ] || node=$root/node_modules/node/bin/node
  elif [ -z "$node" ]; then
    echo "! This needs Node 24.16 or later, as OpenClaw does. Install it (https://nodejs.org), or name it: HELMDECK_NODE=/path/to/node" >&2
    exit 2
  fi

  # As it was called: what the program tells to run can then be typed.
  case $0 in
    */*) called=$0 ;;
    *) called="sh $0" ;;
  esac
  HELMDECK_INSTALLER=${HELMDECK_INSTALLER:-$called} exec "$node" "$root/dist/install.mjs" "$@"
}
