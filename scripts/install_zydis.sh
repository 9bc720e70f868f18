#!/usr/bin/env bash
# Installs Zydis, the disassembler that the plug-in of `cxloom exec` is built with, from its sources: images in which wheels are built
# have no package of it. A shared library, which `auditwheel repair` puts into the wheel. For a machine that is thrown away.
set -euo pipefail
tag=v4.1.1
commit=a2278f1d254e492f6a6b39f6cb5d1f5d515659dc
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT

git clone --quiet --depth 1 --branch "$tag" --recurse-submodules --shallow-submodules https://github.com/zyantific/zydis "$sources/zydis"
if [[ $(git -C "$sources/zydis" rev-parse HEAD) != "$commit" ]]; then
  echo "$tag of Zydis is not commit $commit any more" >&2
  exit 1
fi

install() {
  cmake -S "$1" -B "$sources/$2" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr/local -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON "${@:3}"
  cmake --build "$sources/$2" --parallel
  cmake --install "$sources/$2"
}
# Zycore goes into the library; its headers are needed beside those of Zydis, which does not install them.
install "$sources/zydis/dependencies/zycore" zycore -DZYCORE_BUILD_SHARED_LIB=OFF
install "$sources/zydis" build -DZYAN_SYSTEM_ZYCORE=ON -DZYDIS_BUILD_SHARED_LIB=ON -DZYDIS_BUILD_TOOLS=OFF \
  -DZYDIS_BUILD_EXAMPLES=OFF -DZYDIS_BUILD_DOXYGEN=OFF -DZYDIS_BUILD_TESTS=OFF
echo /usr/local/lib >/etc/ld.so.conf.d/zydis.conf
ldconfig
