#!/usr/bin/env bash
# What a release puts on the package index, made here and tried as a stranger would: the sdist, the wheel that comes from it and from nothing
# else, what that links, and a run of the demonstration by a user of a system that has Python and no more.
#
#   scripts/package_check.sh PYTHON OUT
#
#   PYTHON   the interpreter of an environment with the extra `release`
#   OUT      the folder that is made anew with the results: dist/ with the sdist, wheel/ with the wheel as it can be published
set -euo pipefail
python=$(realpath -s "$1")
mkdir -p "$2"
out=$(realpath "$2")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
export PATH="$(dirname "$python"):$PATH"
rm -rf "${out:?}"/{dist,wheel,needed,demo}

step() { echo "== $*"; }

step "the licence of each file"
(cd "$root" && "$python" -m reuse lint --quiet || { "$python" -m reuse lint; exit 1; })

# In an environment of its own, with what pyproject.toml asks for: nothing of the tree is there but what the sdist has.
step "sdist, and the wheel that is built from it"
"$python" -m build --outdir "$out/dist" "$root" >"$out/build.log" 2>&1 || { tail -n 40 "$out/build.log"; exit 1; }

step "what the wheel links"
"$python" -m auditwheel show "$out"/dist/*.whl
"$python" -m auditwheel repair --wheel-dir "$out/wheel" "$out"/dist/*.whl
"$python" -m auditwheel show "$out"/wheel/*.whl
rm "$out"/dist/*.whl
ls -l "$out"/dist "$out"/wheel

step "what it needs from the index"
"$python" -m pip download --quiet --dest "$out/needed" "$out"/wheel/*.whl

# The user has the wheels and a home, and no network.
trial='
  cd
  python3 -m venv cxl
  cxl/bin/pip install --quiet --no-index --find-links /tmp/wheels cxloom
  cxl/bin/pip list
  cxl/bin/cxloom demo --out demo
  cxl/bin/cxloom --version
  cxl/bin/python -c "import cxloom; print(cxloom.run(cxloom.load(\"esf/validation\")).latency.mean, \"ns\")"'

if [[ $(id -u) == 0 ]] && command -v mmdebstrap >/dev/null; then
  step "a bare Debian and a user without rights"
  bare=$(mktemp -d -t cxloom-bare.XXXXXX)
  trap 'rm -rf --one-file-system "$bare"' EXIT
  mmdebstrap --quiet --variant=minbase --include=python3-venv "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$bare"
  mkdir -m 755 "$bare/tmp/wheels"
  cp "$out"/needed/*.whl "$bare/tmp/wheels/"
  chroot "$bare" useradd --create-home stranger
  # Of the other mounts, networks and processes it sees none; all are gone when it ends.
  unshare --mount --net --pid --fork chroot "$bare" sh -c \
    'mount -t proc proc /proc && exec su - stranger -s /bin/sh -c "$1"' sh "set -eu; $trial"
  cp -r "$bare/home/stranger/demo" "$out/demo"
else
  step "no root or no mmdebstrap: a new environment, an empty home, and no variables of this shell"
  home=$(mktemp -d)
  trap 'rm -rf "$home"' EXIT
  env -i HOME="$home" PATH=/usr/bin:/bin sh -c "set -eu; ${trial//\/tmp\/wheels/$out\/needed}"
  cp -r "$home/demo" "$out/demo"
fi
step "done: $(ls "$out"/wheel/*.whl)"
