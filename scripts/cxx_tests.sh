#!/usr/bin/env bash
# Runs the C++ tests of a build tree: each program in a few processes, instead of a process for each test, which takes longer to
# start than most tests. Prints what failed, and how many tests passed.
#
#   scripts/cxx_tests.sh TREE [FILTER [ROOM...]]
#
#   TREE      the build tree, in which the programs are tests/bin/ROOM
#   FILTER    which tests, as --gtest_filter takes it
#   ROOM      which programs; all without one
#
#   JOBS      processes at a time; as many as there are cores
#   PRELOAD   what the programs, and nothing else, load before their libraries
set -euo pipefail

tree=$1
filter=${2:-*}
shift $(($# < 2 ? $# : 2))
rooms=("$@")
if [[ ${#rooms[@]} == 0 ]]; then
  for program in "$tree"/tests/bin/*; do rooms+=("${program##*/}"); done
fi
shards=4
logs=$tree/tests/logs
rm -rf "$logs"
mkdir -p "$logs"
export tree filter shards logs

# What a test says, unless it has passed; and the one in which its program ended.
said='/^\[ RUN / { run = $0; next } /^\[       OK \]/ { run = ""; next } /^\[-----/ { next }
  { if (run != "") print run; run = ""; print } END { if (run != "") print run }'
export said

run() {
  local log=$logs/$1.$2
  GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$2 GTEST_FILTER=$filter timeout 1500 \
    env ${PRELOAD:+LD_PRELOAD="$PRELOAD"} "$tree/tests/bin/$1" >"$log" 2>&1 && return
  echo "$1, shard $2 of $shards:"
  awk "$said" "$log"
  return 1
}
export -f run

failed=0
for room in "${rooms[@]}"; do
  for ((shard = 0; shard < shards; shard++)); do echo "$room" "$shard"; done
done | xargs -P "${JOBS:-$(nproc)}" -L 1 bash -c 'run "$@"' _ || failed=1
passed=$(awk '/^\[  PASSED  \]/ { passed += $4 } END { print passed + 0 }' "$logs"/*)
echo "$passed C++ tests passed"
[[ $failed == 0 && $passed -gt 0 ]]
