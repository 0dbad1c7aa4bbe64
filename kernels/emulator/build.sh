#!/usr/bin/env bash
# build.sh FOLDER KERNELS.cu...: compiles the emulated device with these kernels to FOLDER/libcuda.so and prints that path.
# Objects are kept in FOLDER and made again only when a source, a header, the compiler or its flags change.
#   CXX                  the compiler; otherwise c++, g++ or clang++, whichever is there
#   EMULATOR_FLAGS       further flags, for instance -DEMULATOR_UCONTEXT
#   EMULATOR_SANITIZER   a sanitizer for the kernels and for linking, for instance thread
#   EMULATOR_EXECUTABLE  a name: links an executable FOLDER/NAME in place of the library; its main is in one of the sources
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
runtime=$root/kernels/emulator

die() {
    echo "build.sh: $*" >&2
    exit 1
}

compiler=${CXX:-}
for name in c++ g++ clang++; do
    [ -n "$compiler" ] || ! command -v "$name" >/dev/null || compiler=$name
done
[ -n "$compiler" ] || die "no C++ compiler (c++, g++, clang++): install one, or name it in CXX"
[ $# -ge 2 ] || die "usage: build.sh FOLDER KERNELS.cu..."
folder=$1
shift
mkdir -p "$folder"

# Frame addresses and line tables name the source line of a fault. Indices out of an array and shifts by too much trap.
flags=(-std=c++20 -O2 -g1 -fPIC -fvisibility=hidden -fno-strict-aliasing -fno-exceptions -pthread
    "-fmacro-prefix-map=$root/=" "-fdebug-prefix-map=$root=.")
kernel_flags=(-fsanitize=bounds,shift -fsanitize-undefined-trap-on-error -Wno-unknown-pragmas)
# Or the traps of several checks would be one, with one line. The first two are g++'s names, the last is clang's.
for flag in -fno-crossjumping -fno-tree-tail-merge -fno-sanitize-merge; do
    "$compiler" -Werror "$flag" -x c++ -c /dev/null -o /dev/null 2>/dev/null && kernel_flags+=("$flag")
done
read -ra more <<<"${EMULATOR_FLAGS:-}"
flags+=("${more[@]}")

[ -z "${EMULATOR_SANITIZER:-}" ] || kernel_flags+=("-fsanitize=$EMULATOR_SANITIZER")

headers() {
    find "$root/kernels" "$root/tests/emulator" -type f \( -name '*.h' -o -name '*.cuh' \) -print0 | sort -z | xargs -0 cat
}
common=$({ "$compiler" --version; echo "$compiler ${flags[*]} ${kernel_flags[*]}"; headers; } | cksum)

# Compiles one source, if it is not compiled yet, and prints its object's path.
object() {
    local source=$1 extra=() object
    case $source in *.cu) extra=(-x c++ "${kernel_flags[@]}") ;; esac
    object=$folder/$(basename "$source").$({ echo "$common"; cat "$source"; } | cksum | tr -d ' ').o
    if [ ! -f "$object" ]; then
        "$compiler" "${flags[@]}" "${extra[@]}" -c "$source" -o "$object.$$" && mv "$object.$$" "$object" || return 1
    fi
    echo "$object"
}

trap 'rm -f "$folder"/object.$$.*' EXIT
# As many compilations as there are processors, each source's object in the order of the sources.
sources=("$runtime"/*.cpp)
for source in "$@"; do sources+=("$(realpath "$source")"); done
running=0
for i in "${!sources[@]}"; do
    object "${sources[$i]}" >"$folder/object.$$.$i" &
    running=$((running + 1))
    if [ "$running" -ge "$(nproc)" ]; then
        wait -n || die "compilation failed"
        running=$((running - 1))
    fi
done
while [ "$running" -gt 0 ]; do
    wait -n || die "compilation failed"
    running=$((running - 1))
done
objects=()
for i in "${!sources[@]}"; do
    objects+=("$(cat "$folder/object.$$.$i")")
done

output=$folder/${EMULATOR_EXECUTABLE:-libcuda.so}
kind=(-shared "-Wl,-soname,libcuda.so.1")
[ -z "${EMULATOR_EXECUTABLE:-}" ] || kind=()
[ -z "${EMULATOR_SANITIZER:-}" ] || kind+=("-fsanitize=$EMULATOR_SANITIZER")
"$compiler" "${flags[@]}" "${kind[@]}" -o "$output.$$" "${objects[@]}" -Wl,-T,"$runtime/shared.ld" -ldl
mv "$output.$$" "$output"
echo "$output"
