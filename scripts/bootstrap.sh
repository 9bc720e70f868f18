#!/usr/bin/env bash
# Prepares what the Makefile needs before its first step: pieces of the system, then the Python environment.
#
#   scripts/bootstrap.sh [venv] [packages] [gtest] [qemu] [exec] [benchmark] [browser]
#
#   venv        a C++20 compiler and Python 3.11+ with its headers; makes .venv and installs what compiles the package there
#   packages    installs the package's dependencies there, and the command
#   gtest       the library of the C++ tests
#   qemu        the emulator whose plug-in captures programs, and the disassembler that the plug-in is built with
#   exec        the same for `cxloom exec`; without it programs cannot be run, and all else can be done
#   benchmark   the library of the C++ micro-benchmarks
#   browser     a headless Chromium, in which reports are tested; without it these tests are skipped
#
# A missing Debian package is installed where this user may do that, and otherwise named in one line to type.
# Nothing is asked of the package manager when nothing is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
wanted=()
runs_programs=()

# The compiler CMake will pick, or failure if it cannot compile the given includes.
compiles() {
  local cxx
  for cxx in ${CXX:-c++ g++ clang++}; do
    command -v "$cxx" >/dev/null || continue
    # Not through a pipe: a compiler that ends without reading would end what writes to it, and seem to have failed.
    "$cxx" -std=c++20 -x c++ -fsyntax-only - 2>/dev/null < <(printf '#include <%s>\n' "$@")
    return
  done
  return 1
}

# The system's own Python first: one from another place in PATH may lack headers or be a wrapper.
find_python() {
  local candidate
  for candidate in /usr/bin/python3 python3 python3.14 python3.13 python3.12 python3.11; do
    candidate=$(command -v "$candidate") || continue
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# Installs Debian packages, or fails.
installs() {
  [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null || return 1
  echo "Installing from Debian: $*"
  local log apt_install
  log=$(mktemp)
  apt_install=(env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends
    -o DPkg::Lock::Timeout=300 "$@")
  # The package lists may be absent or old; fetch them only then. Failing to reach an unrelated source is no reason
  # to stop.
  if "${apt_install[@]}" >"$log" 2>&1 </dev/null ||
    { apt-get update >>"$log" 2>&1 </dev/null || true; "${apt_install[@]}" >>"$log" 2>&1 </dev/null; }; then
    rm -f "$log"
    return
  fi
  tail -n 20 "$log" >&2
  rm -f "$log"
  return 1
}

install_missing() {
  if [[ ${#missing[@]} -gt 0 ]] && ! installs "${missing[@]}"; then
    echo "Missing on this system; please run:  sudo apt-get install ${missing[*]}" >&2
    exit 1
  fi
  if [[ ${#wanted[@]} -gt 0 ]] && ! installs "${wanted[@]}"; then
    echo "Not on this system, so that some tests are skipped:  sudo apt-get install ${wanted[*]}" >&2
  fi
  if [[ ${#runs_programs[@]} -gt 0 ]] && ! installs "${runs_programs[@]}"; then
    echo "Not on this system; for \`cxloom exec\`:  sudo apt-get install ${runs_programs[*]} && make build" >&2
  fi
}

check_python() {
  local python
  if ! python=$(find_python); then
    missing+=(python3 python3-venv python3-dev)
    return
  fi
  "$python" -c 'import ensurepip, ssl, venv' 2>/dev/null || missing+=(python3-venv)
  "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' || missing+=(python3-dev)
}

# Installs Python packages, and names each with its size as it comes: they are hundreds of megabytes. On a terminal each takes the line
# in which the compiler's progress may stand.
pip_install() {
  local log line=
  [[ ! -t 1 ]] || line=$'\r\e[K'
  log=$(mktemp)
  if .venv/bin/python -m pip install --no-compile --constraint constraints.txt "$@" 2>&1 | tee "$log" |
    sed -un -e "s#^ *Downloading \(.*/\)\?#$line  #p" -e "s/^Installing collected packages:.*/$line  unpacking/p"; then
    rm -f "$log"
    return
  fi
  if grep -q CERTIFICATE_VERIFY_FAILED "$log"; then
    echo "The certificate of the package index could not be verified, as behind a proxy that opens TLS; please run:" \
      " PIP_CERT=FILE make ...  with the file of the proxy's root certificate" >&2
  else
    tail -n 20 "$log" >&2
  fi
  rm -f "$log"
  return 1
}

make_venv() {
  local python
  if ! python=$(find_python); then
    echo "cxloom needs Python 3.11 or later" >&2
    exit 1
  fi
  # An environment remembers where it was made; one that was copied along with the tree leads back to the original.
  if [[ -d .venv && $(cat .venv/.root 2>/dev/null) != "$PWD" ]]; then
    rm -rf .venv build
  fi
  if [[ ! -x .venv/bin/python ]] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    echo "Making the Python environment .venv with $python"
    rm -rf .venv
    "$python" -m venv .venv
    # That of Debian 12 takes twice the time to choose what fits, a quarter of a minute in all.
    pip_install --upgrade pip
  fi
  printf '%s' "$PWD" >.venv/.root
  echo "Installing Python packages into .venv: 190 MB where none is kept from before"
  pip_install cmake ninja nanobind scikit-build-core
}

# The package's metadata, its dependencies and the `cxloom` command; then the way to its files.
install_packages() {
  CXLOOM_BUILD_TREE=1 pip_install --no-build-isolation .
  .venv/bin/python scripts/link_build_tree.py
}

for need in "$@"; do
  case "$need" in
    venv)
      compiles concepts vector cstdlib || missing+=(g++)
      check_python
      ;;
    gtest) compiles gtest/gtest.h || missing+=(libgtest-dev) ;;
    qemu)
      command -v qemu-x86_64 >/dev/null || missing+=(qemu-user)
      compiles Zydis/Zydis.h || missing+=(libzydis-dev)
      ;;
    exec)
      command -v qemu-x86_64 >/dev/null || runs_programs+=(qemu-user)
      compiles Zydis/Zydis.h || runs_programs+=(libzydis-dev)
      ;;
    benchmark) compiles benchmark/benchmark.h || missing+=(libbenchmark-dev) ;;
    packages) ;; # once there is an environment
    browser)
      command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || wanted+=(chromium-headless-shell)
      ;;
    *)
      echo "usage: $0 [venv] [packages] [gtest] [qemu] [exec] [benchmark] [browser]" >&2
      exit 2
      ;;
  esac
done
install_missing
if [[ " $* " == *" venv "* ]]; then make_venv; fi
if [[ " $* " == *" packages "* ]]; then install_packages; fi
