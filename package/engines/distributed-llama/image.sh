#!/bin/sh
# usage: image.sh ARCH ROOT
# Writes the files of the engine's image for ARCH (amd64, arm64) to the folder ROOT:
# static programs for several generations of CPUs, and what chooses among them.
# The Dockerfile runs it; tests run it without Docker.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
arch=$1 root=$2
case $arch in
  amd64) variants="x86-64-v3 x86-64-v2" cross=x86_64-linux-gnu ;;
  arm64) variants="armv8.2-a+dotprod armv8-a" cross=aarch64-linux-gnu ;;
  *) echo "cannot build an image for \"$arch\": use amd64 or arm64" >&2 && exit 1 ;;
esac
if [ "$(dpkg --print-architecture 2>/dev/null || true)" = "$arch" ]; then CXX=g++ CC=gcc; else CXX=$cross-g++ CC=$cross-gcc; fi
export CXX

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/source.sh" "$work/source"
libexec=$root/usr/local/libexec/distributed-llama
for variant in $variants; do
  cpu=-march=$variant
  # Upstream uses SSE's types but includes their header only for AVX.
  if [ "$variant" = x86-64-v2 ]; then cpu="$cpu -include immintrin.h"; fi
  "$here/build.sh" "$work/source" "$libexec/$variant" "$cpu" "-static -s"
  rm "$libexec/$variant/LICENSE"
done
mkdir -p "$root/usr/local/bin" "$root/usr/share/doc/distributed-llama"
cp "$work/source/LICENSE" "$root/usr/share/doc/distributed-llama/"
"$CC" -Os -Wall -Wextra -Werror -static -s -o "$libexec/launch" "$here/launch/launch.c"
for program in dllama dllama-api; do
  ln -sf ../libexec/distributed-llama/launch "$root/usr/local/bin/$program"
done
