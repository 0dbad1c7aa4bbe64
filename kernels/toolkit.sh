#!/usr/bin/env bash
# kernels/toolkit.sh DIR: installs NVIDIA's compiler for the kernels (nvcc, cicc, ptxas, nvdisasm) into DIR, from the wheels
# that NVIDIA publishes on PyPI, in the versions and with the hashes of toolkit.txt beside this file. No GPU, driver or
# root is needed; 109 MB come over the network and 276 MB stay. What is installed and complete is kept.
set -euo pipefail

die() {
    echo "toolkit: $*" >&2
    exit 1
}

pins=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/toolkit.txt
[ $# = 1 ] && [ -n "$1" ] || die "usage: kernels/toolkit.sh DIR"
dir=${1%/}
stamp=$dir/.cuzk-toolkit

# works DIR: whether the compiler there starts.
works() { "$1/bin/nvcc" --version >/dev/null 2>&1 && "$1/bin/ptxas" --version >/dev/null 2>&1; }

[ -r "$pins" ] || die "cannot read $pins, which names the versions and their hashes"
if cmp -s "$pins" "$stamp" && works "$dir"; then
    echo "toolkit: kept $dir/bin/nvcc"
    exit 0
fi
if [ -e "$dir" ] && [ ! -e "$stamp" ] && [ -n "$(ls -A "$dir" 2>&1)" ]; then
    die "$dir holds something else, and would be replaced: name another folder"
fi

system=$(uname -s)-$(uname -m)
case $system in
    Linux-x86_64 | Linux-aarch64) ;;
    *) die "NVIDIA's compiler is pinned for Linux on x86_64 and aarch64, and this is $system: install CUDA and set CUZK_NVCC" ;;
esac
command -v python3 >/dev/null || die "no python3: install it (3.8 or later) with pip, which downloads the wheels"
python3 -m pip --version >/dev/null 2>&1 || die "python3 has no pip: install it (Debian: apt-get install python3-pip)"

mkdir -p "$(dirname "$dir")" || die "cannot make the folder above $dir"
work=$(mktemp -d "$dir.XXXXXX") || die "cannot write beside $dir"
trap 'rm -rf "$work"' EXIT

# pip compares the hashes and stops at the first that differs. It asks the index that the user has configured.
python3 -m pip download --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary=:all: \
    --dest "$work/wheels" --requirement "$pins" ||
    die "pip download failed, its message is above: no network or index (try again, or set pip's index-url), a wheel whose hash
is not the pinned one (do not use it), or a system the wheels are not for (they need glibc)"

for wheel in "$work"/wheels/*.whl; do
    python3 -m zipfile -e "$wheel" "$work/unpacked" || die "cannot unpack $(basename "$wheel"): is the disk full?"
done
root=$work/unpacked/nvidia/cu13
[ -d "$root/bin" ] || die "the wheels of $pins do not hold nvidia/cu13/bin: their layout has changed"
rm -rf "$root/.metadata"
# Python's zipfile drops the permissions.
chmod +x "$root"/bin/* "$root"/nvvm/bin/*
works "$root" || die "the unpacked nvcc or ptxas does not start here: run $root/bin/nvcc --version and $root/bin/ptxas --version"

cp "$pins" "$root/.cuzk-toolkit"
rm -rf "$dir"
mv "$root" "$dir"
echo "toolkit: installed $dir/bin/nvcc"
