#!/usr/bin/env bash
# tsan.sh [FOLDER]: runs kernels under ThreadSanitizer, which sees accesses of a block's threads that no barrier orders,
# whatever order they run in. FOLDER (default target/tmp/emulator-tsan) keeps what is compiled.
# Every case of tests/cuda/races.cpp (the product's kernels) and tests/emulator/races.cpp has to be silent, but for those named
# race_*, which have to be reported with a source line of their kernel. Ends with 0, and a line that says so, where the compiler has no ThreadSanitizer.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-${CARGO_TARGET_DIR:-$root/target}/tmp/emulator-tsan}
mkdir -p "$folder"

compiler=${CXX:-}
for name in c++ g++ clang++; do
    [ -n "$compiler" ] || ! command -v "$name" >/dev/null || compiler=$name
done
[ -n "$compiler" ] || { echo "tsan.sh: no C++ compiler (c++, g++, clang++): install one, or name it in CXX" >&2; exit 1; }
echo 'int main() { return 0; }' >"$folder/probe.cpp"
if ! "$compiler" -fsanitize=thread "$folder/probe.cpp" -o "$folder/probe" 2>/dev/null; then
    echo "tsan.sh: skipped: $compiler has no -fsanitize=thread here"
    exit 0
fi
# Where the kernel spreads addresses further than ThreadSanitizer expects, it needs a process whose addresses are fixed.
run=()
if ! "$folder/probe" 2>/dev/null; then
    run=(setarch "$(uname -m)" -R)
    if ! "${run[@]}" "$folder/probe" 2>/dev/null; then
        echo "tsan.sh: skipped: programs with ThreadSanitizer do not start here, not with setarch -R either"
        exit 0
    fi
fi

export CXX=$compiler EMULATOR_FLAGS=-DEMULATOR_TSAN EMULATOR_SANITIZER=thread EMULATOR_EXECUTABLE=races
# Those whose threads share memory, within a block or a warp, or take turns at the same words. In the others (ff/, ec/, bases.cu,
# variables.cu, places.cu) each thread writes its own elements, and bases.cu has one word that is lowered atomically besides.
kernels=("$root"/kernels/{ntt/passes,msm/sort,msm/buckets,evaluate/evaluate}.cu "$root"/tests/emulator/{correct,faulty}.cu)
program=$("$root/kernels/emulator/build.sh" "$folder" "${kernels[@]}" "$root"/tests/{cuda,emulator}/races.cpp)
cases=$("${run[@]}" "$program")
[ -n "$cases" ] || { echo "tsan.sh: $program names no cases" >&2; exit 1; }
wrong=0
found=0
for name in $cases; do
    status=0
    said=$(TSAN_OPTIONS="exitcode=66 halt_on_error=0" "${run[@]}" "$program" "$name" 2>&1) || status=$?
    if [[ $name == race_* ]]; then
        kernel=${name#race_}
        if [ "$status" = 66 ] && grep -q "data race" <<<"$said" && grep -qE "$kernel .*\.cu:[0-9]+" <<<"$said"; then
            found=$((found + 1))
            continue
        fi
    elif [ "$status" = 0 ] && [ -z "$said" ]; then
        continue
    fi
    printf 'tsan.sh: %s ended with %s, which is wrong:\n%s\n' "$name" "$status" "$(head -40 <<<"$said")" >&2
    wrong=1
done
[ "$wrong" = 0 ] || exit 1
echo "tsan.sh: $(wc -w <<<"$cases") cases, $found of them with a planted race that was found"
