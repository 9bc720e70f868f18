#!/usr/bin/env bash
# Compiles what users compile, against an installed package and nothing of the source tree's core, and runs it: a program in C that
# embeds a system, and a plug-in in C++.
#
#   scripts/try_installed.sh PYTHON INSTALLED
#
#   PYTHON      the interpreter of the environment with the package's dependencies
#   INSTALLED   the folder with the installed package, beside which the results are written
set -euo pipefail
python=$(realpath -s "$1")
installed=$(realpath "$2")
examples=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../examples")
cd "$installed/.."
export PYTHONPATH=$installed

{
  read -r include
  read -r library
} < <("$python" -c 'import cxloom; print(cxloom.include_dir(), cxloom.library_dir(), sep="\n")')
for folder in "$include" "$library"; do
  if [[ $folder != "$installed"/* ]]; then
    echo "$folder is not of the package in $installed" >&2
    exit 1
  fi
done

# The plug-in takes longest to compile, so it is compiled meanwhile.
"${CXX:-c++}" -std=c++20 -shared -fPIC -I "$include" "$examples/plugin/retimer.cpp" -o libretimer.so &
plugin=$!
"${CC:-cc}" -std=c11 -I "$include" "$examples/embed/chase.c" -o chase -L "$library" -lcxloom "-Wl,-rpath,$library"
"$python" -m cxloom resolve "$examples/embed/system.yaml" >system.json
./chase system.json

wait "$plugin"
"$python" -m cxloom run "$examples/plugin/retimer.yaml" --plugin ./libretimer.so --json >retimer.json
