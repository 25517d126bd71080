#!/bin/sh
# usage: source.sh FOLDER
# Writes the pinned source of distributed-llama to the new folder FOLDER. It comes
# from GitHub, or from the archive (.tar.gz) that DLLAMA_SRC names, and must have
# the pinned content either way.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=pins.env
. "$here/pins.env"
folder=$1
url=https://codeload.github.com/$REPOSITORY/tar.gz/$COMMIT

fail() {
  echo "cannot get the source of distributed-llama: $*" >&2
  rm -rf "$folder"
  exit 1
}

mkdir -p "$folder"
archive=${DLLAMA_SRC:-}
if [ -z "$archive" ]; then
  command -v curl >/dev/null || fail "curl is missing: install it (Debian, Ubuntu: apt-get install curl), or set DLLAMA_SRC to an archive of $url"
  archive=$folder/source.tar.gz
  curl --fail --silent --show-error --location --retry 3 --connect-timeout 20 --output "$archive" "$url" ||
    fail "no download from $url: download it on a machine with internet access and set DLLAMA_SRC to the file"
elif [ ! -f "$archive" ]; then
  fail "DLLAMA_SRC names \"$archive\", which is not a file: set it to the archive from $url"
fi
tar -xz --strip-components=1 -C "$folder" -f "$archive" || fail "\"$archive\" is not a .tar.gz archive: set DLLAMA_SRC to the archive from $url"
# Nothing else may take part in the build: make prefers a GNUmakefile, and does not
# build an object that it finds.
find "$folder" -mindepth 1 -maxdepth 1 ! -name LICENSE ! -name Makefile ! -name src -exec rm -rf {} +
[ -d "$folder/src" ] || fail "\"$archive\" has no folder src below its top folder: set DLLAMA_SRC to the archive from $url"
other=$(cd "$folder" && LC_ALL=C find . \( ! -type f ! -type d -o -type f -links +1 -o -name '*[!A-Za-z0-9._+-]*' \) | head -n 1)
[ -z "$other" ] || fail "\"$archive\" has \"$other\", which is a link, a device or no plain name: set DLLAMA_SRC to the archive from $url"
content=$(cd "$folder" && find LICENSE Makefile src -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d ' ' -f 1)
[ "$content" = "$CONTENT" ] ||
  fail "\"$archive\" has the content $content, not $CONTENT of commit $COMMIT: set DLLAMA_SRC to the archive from $url"
