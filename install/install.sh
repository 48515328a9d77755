#!/bin/sh
# Installs helmdeck memory in OpenClaw, with an embedding sidecar, and checks that it works: install.sh --help
#
# The script is one block, so that a truncated copy does nothing. The steps are in install/*.ts. In a clone they are built
# first (this installs the clone's own dependencies, once); the npm package has them built.
{
  set -eu
  # OpenClaw refuses a plugin that every account may write, and what runs here must not be anybody's to change.
  umask go-w

  # The package's folder: the parent of this file's real folder.
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

  # A suitable Node: the named one, the one in the path, or the clone's own.
  node=
  for candidate in "${HELMDECK_NODE:-}" node "$root/node_modules/node/bin/node"; do
    if [ -n "$candidate" ] && is_new_enough "$candidate"; then
      node=$candidate
      break
    fi
  done

  if [ -f "$root/scripts/with-deps.mjs" ]; then
    # A clone: its own scripts install the pinned Node and rebuild outdated files.
    if ! command -v node >/dev/null 2>&1 && [ -z "$node" ]; then
      echo "! Node is not on this machine. Install Node 24.16 or later (https://nodejs.org), which OpenClaw needs too." >&2
      exit 2
    fi
    "${node:-node}" "$root/scripts/with-deps.mjs" --exec node scripts/build/build.ts >/dev/null || {
      echo "! The clone could not be built; see the lines above." >&2
      exit 2
    }
    [ -n "$node" ] || node=$root/node_modules/node/bin/node
  elif [ -z "$node" ]; then
    echo "! This needs Node 24.16 or later, as OpenClaw does. Install it (https://nodejs.org), or set HELMDECK_NODE=/path/to/node" >&2
    exit 2
  fi

  # The command as it was called, so that commands in messages can be typed as shown.
  case $0 in
    */*) called=$0 ;;
    *) called="sh $0" ;;
  esac
  HELMDECK_INSTALLER=${HELMDECK_INSTALLER:-$called} exec "$node" "$root/dist/install.mjs" "$@"
}
