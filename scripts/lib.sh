# shellcheck shell=bash
# Functions that the scripts share; source it in bash, after `set -euo pipefail`. Nothing here writes to standard
# output, which belongs to the program that is run.

root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
DADSIM_PACKAGES=${DADSIM_PACKAGES:-$root/scripts/packages.txt}

say() { printf '%s\n' "$*" >&2; }

# Runs a command with its output in a log ($1), and prints the log if the command fails.
quietly() {
  local log=$1 status=0
  shift
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ "$status" -ne 0 ]; then
    cat -- "$log" >&2
    say "failed: $*"
  fi
  return "$status"
}

# Prints the packages of packages.txt that have no purpose, and those with the given purposes.
packages_for() {
  awk -v purposes=" $* " '
    /^#/ || !NF { next }
    { wanted = NF == 1; for (i = 2; i <= NF; ++i) if (index(purposes, " " $i " ")) wanted = 1 }
    wanted { print $1 }' "$DADSIM_PACKAGES"
}

# Prints those of the given packages that dpkg does not list as installed, one per line. A package counts as installed
# if another package provides it: some builds of nodejs contain npm.
missing_packages() {
  local installed
  # dpkg-query fails if it does not know one of the packages, but lists all others.
  installed=$(dpkg-query -W -f '${Package}, ${Provides}\t${db:Status-Status}\n' "$@" 2>/dev/null |
    sed -n '/\tinstalled$/ { s/\t.*//; s/ *([^)]*)//g; s/, */\n/g; p }') || true
  printf '%s\n' "$@" | grep -Fxv -e "$installed" || true
}

# Makes sure that the packages for the given purposes are installed. Installs missing packages as root, and prints them
# otherwise. Without dpkg, CMake reports what is missing.
ensure_packages() {
  command -v dpkg-query >/dev/null || return 0
  local wanted missing
  mapfile -t wanted < <(packages_for "$@")
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  [ "${#missing[@]}" -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    say "missing Debian packages: ${missing[*]}"
    say "install them as root: apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    return 1
  fi
  say "installing ${missing[*]} …"
  mkdir -p -- "$root/build"
  (
    flock 9
    export DEBIAN_FRONTEND=noninteractive
    quietly "$root/build/packages.log" apt-get update
    quietly "$root/build/packages.log" apt-get install -y --no-install-recommends "${missing[@]}"
  ) 9>"$root/build/packages.lock"
}

# Installs the npm packages of the browser tests into build/browser. The tests are skipped without them.
ensure_browser_modules() {
  local folder=$root/build/browser tests=$root/tests/browser
  mkdir -p -- "$folder"
  (
    flock 9
    # This file is written last, so that an interrupted installation is repeated.
    if cmp -s -- "$tests/package-lock.json" "$folder/installed.json"; then return 0; fi
    cp -- "$tests/package.json" "$tests/package-lock.json" "$folder"
    cd -- "$folder" || exit
    if command -v npm >/dev/null && quietly npm.log npm ci --no-audit --no-fund; then
      cp package-lock.json installed.json
    else
      say "the tests in a browser are skipped: npm could not put playwright-core and axe-core into $folder"
    fi
  ) 9>"$folder/lock"
}

# Configures a preset ($1) unless this folder is configured already; with the tests if $2 is ON. A tree for the program
# alone needs no packages of tests. If tests are added, its objects stay.
configure() {
  local preset=$1 tests=$2 build=$root/build/$1
  # A folder that was copied or moved has its old path in the cache.
  if [ -f "$build/build.ninja" ] && grep -Fxq "CMAKE_HOME_DIRECTORY:INTERNAL=$root" -- "$build/CMakeCache.txt" &&
    { [ "$tests" = OFF ] || grep -Fxq "DADSIM_TESTS:BOOL=ON" -- "$build/CMakeCache.txt"; }; then
    return 0
  fi
  say "configuring dadsim …"
  mkdir -p -- "$build"
  quietly "$build.configure.log" cmake --fresh -S "$root" --preset "$preset" -D DADSIM_TESTS="$tests"
}

# Passes the build tool's lines on. Prints once that a build is running; on a terminal, prints its progress.
build_progress() {
  local line said=
  while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in
      \[*\]\ Building\ * | \[*\]\ Linking\ *)
        if [ -z "$said" ]; then
          say "building dadsim …"
          said=yes
        fi
        if [ -t 2 ]; then printf '\r%s]  ' "${line%%]*}" >&2; fi
        ;;
    esac
  done
  if [ -n "$said" ] && [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

# Gives ccache a folder in the build tree if it cannot write to its own (no home folder, or another user's).
ensure_ccache_folder() {
  [ -z "${CCACHE_DIR:-}" ] || return 0
  local usual=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/ccache
  if ! mkdir -p -- "$usual" 2>/dev/null || [ ! -w "$usual" ]; then export CCACHE_DIR=$root/build/ccache; fi
}

# Configures and builds a preset ($1), or only the given targets. Calls that run at the same time wait for each other.
# The program alone is built without tests.
build() {
  local preset=$1 tests=ON
  shift
  [ "$*" != dadsim ] || tests=OFF
  local build=$root/build/$preset log=$root/build/$preset.build.log
  mkdir -p -- "$root/build"
  (
    flock 9
    ensure_ccache_folder
    configure "$preset" "$tests"
    export NINJA_STATUS='[%f/%t] '
    if ! cmake --build "$build" -j "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" ${@:+--target "$@"} 2>&1 </dev/null |
      build_progress >"$log"; then
      # Prints from the first failure on, up to a limit, as errors in templates can be very long.
      { grep -m 1 -A 60 '^FAILED:' -- "$log" || tail -n 60 -- "$log"; } >&2
      say "building dadsim failed; all messages are in $log"
      exit 1
    fi
  ) 9>"$root/build/$preset.lock"
}

# Runs the tests of a CTest preset ($1) and prints a summary. Further arguments are CTest's.
run_suite() {
  local preset=$1 argument
  shift
  cd -- "$root"
  for argument; do
    case $argument in
      -N | --show-only* | -V | -VV | --verbose | --extra-verbose | --print-labels) exec ctest --preset "$preset" "$@" ;;
    esac
  done
  # Runs one job more than there are processors, as some tests wait for timeouts and for programs to start.
  ctest --preset "$preset" -j "$(($(nproc) + 1))" "$@" 2>&1 | "$root/scripts/test-summary"
}
