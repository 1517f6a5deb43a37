# shellcheck shell=bash
# Functions that the scripts share; source it in bash, after `set -euo pipefail`. Nothing here writes to standard
# output, which belongs to the program that is run.

root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
DADSIM_PACKAGES=${DADSIM_PACKAGES:-$root/scripts/packages.txt}

say() { printf '%s\n' "$*" >&2; }

# Runs a command with its output in a log ($1), which is shown if the command fails.
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

# Prints the packages of packages.txt without a purpose, and those with the given purposes.
packages_for() {
  awk -v purposes=" $* " '
    /^#/ || !NF { next }
    { wanted = NF == 1; for (i = 2; i <= NF; ++i) if (index(purposes, " " $i " ")) wanted = 1 }
    wanted { print $1 }' "$DADSIM_PACKAGES"
}

# Prints the given packages that dpkg does not list as installed, one per line. Packages that another package provides
# count as installed: some builds of nodejs contain npm.
missing_packages() {
  local installed
  # dpkg-query fails if it does not know a package, but still lists the other packages.
  installed=$(dpkg-query -W -f '${Package}, ${Provides}\t${db:Status-Status}\n' "$@" 2>/dev/null |
    sed -n '/\tinstalled$/ { s/\t.*//; s/ *([^)]*)//g; s/, */\n/g; p }') || true
  printf '%s\n' "$@" | grep -Fxv -e "$installed" || true
}

# Ensures that the packages for the given purposes are installed: installs missing packages as root, otherwise names
# them. Without dpkg, CMake reports missing packages.
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

# Installs the npm packages of the browser tests in build/browser. Without them, these tests are skipped.
ensure_browser_modules() {
  local folder=$root/build/browser tests=$root/tests/browser
  mkdir -p -- "$folder"
  (
    flock 9
    # The marker is written last, so that an interrupted installation is repeated.
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

# Configures a preset ($1) unless that is already done in this folder, with the tests if $2 is ON. A tree for the
# program alone needs no test packages. Its objects remain when the tests are added.
configure() {
  local preset=$1 tests=$2 build=$root/build/$1
  # A copied or moved folder contains its old path in the cache.
  if [ -f "$build/build.ninja" ] && grep -Fxq "CMAKE_HOME_DIRECTORY:INTERNAL=$root" -- "$build/CMakeCache.txt" &&
    { [ "$tests" = OFF ] || grep -Fxq "DADSIM_TESTS:BOOL=ON" -- "$build/CMakeCache.txt"; }; then
    return 0
  fi
  say "configuring dadsim …"
  mkdir -p -- "$build"
  quietly "$build.configure.log" cmake --fresh -S "$root" --preset "$preset" -D DADSIM_TESTS="$tests"
}

# Forwards the build tool's lines. Prints once that something is being built; on a terminal, prints the progress.
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

# Gives ccache a folder in the build tree if it cannot write to its usual one (no home, or another user's home).
ensure_ccache_folder() {
  [ -z "${CCACHE_DIR:-}" ] || return 0
  local usual=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/ccache
  if ! mkdir -p -- "$usual" 2>/dev/null || [ ! -w "$usual" ]; then export CCACHE_DIR=$root/build/ccache; fi
}

# Configures and builds a preset ($1), or only the given targets. Concurrent calls wait for each other. The program
# alone is built without the tests.
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
      # Starts at the first failure, and limits the length, since template errors can be very long.
      { grep -m 1 -A 60 '^FAILED:' -- "$log" || tail -n 60 -- "$log"; } >&2
      say "building dadsim failed; all messages are in $log"
      exit 1
    fi
  ) 9>"$root/build/$preset.lock"
}

# Runs the tests of a CTest preset ($1) and prints a summary; further arguments go to CTest.
run_suite() {
  local preset=$1 argument
  shift
  cd -- "$root"
  for argument; do
    case $argument in
      -N | --show-only* | -V | -VV | --verbose | --extra-verbose | --print-labels) exec ctest --preset "$preset" "$@" ;;
    esac
  done
  # One job more than processors, since some tests wait for timeouts and starting programs.
  ctest --preset "$preset" -j "$(($(nproc) + 1))" "$@" 2>&1 | "$root/scripts/test-summary"
}
