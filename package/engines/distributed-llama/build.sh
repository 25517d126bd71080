#!/bin/sh
# usage: build.sh SOURCE OUT [CPU [LDFLAGS]]
# Builds dllama and dllama-api from the folder SOURCE into the folder OUT, with
# their licence. CPU are the compiler's flags for the oldest CPU that runs them,
# by default -march=native, this one. CXX is the compiler, g++ by default. SOURCE
# itself stays as it is.
set -eu
source=$1 out=$2 cpu=${3:--march=native} ldflags=${4:-}
cxx=${CXX:-g++}

for tool in make "$cxx"; do
  command -v "$tool" >/dev/null || {
    echo "cannot build distributed-llama: $tool is missing: install it (Debian, Ubuntu: apt-get install make g++)" >&2
    exit 1
  }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$source/." "$work"
# These are the flags of upstream's Makefile, with other ones for the CPU.
make -C "$work" -j"$(nproc)" CXX="$cxx" CXXFLAGS="-std=c++11 -Werror -Wformat -Werror=format-security -O3 $cpu" LIBS="-lpthread $ldflags" dllama dllama-api >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  echo "cannot build distributed-llama with $cxx $cpu: the compiler's output is above" >&2
  exit 1
}
mkdir -p "$out"
# Renamed into place: a program that runs cannot be overwritten.
for file in LICENSE dllama dllama-api; do
  cp "$work/$file" "$out/.$file" && mv -f "$out/.$file" "$out/$file"
done
