#!/bin/sh
# Builds a foreign program, once per machine:
#
#	build.sh OUT FOLDER PACKAGE [FLAG...]
#
# builds PACKAGE of the module in FOLDER with the flags of go build, as OUT.
# Programs are kept in $XDG_CACHE_HOME/koldun/tools (~/.cache/koldun/tools by default), by a
# digest of all that they are built from, so a second clone builds none. FILES is a command that
# copies what a program reads at run time into the folder $FILES_DIR; OUT.d becomes a copy of
# it. What was not used for 30 days is removed.
set -eu
out=$1 folder=$2 package=$3
shift 3
go=${GO:-go}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/koldun/tools
name=$(basename "$out")

digest=$(
	{
		cd "$folder"
		"$go" env GOVERSION GOOS GOARCH GOAMD64 GOARM64 CGO_ENABLED
		find . -type f | LC_ALL=C sort | xargs cat
		printf '%s\n' "$package" "$@" "${FILES:-}"
	} | sha256sum | cut -c1-16
)
kept=$cache/$name-$digest
if [ ! -x "$kept/$name" ]; then
	mkdir -p "$cache"
	work=$(mktemp -d "$cache/.building-XXXXXX")
	trap 'rm -rf "$work"' EXIT
	if [ -n "${FILES:-}" ]; then
		mkdir "$work/$name.d"
		(cd "$folder" && FILES_DIR="$work/$name.d" sh -euc "$FILES")
		chmod -R u+w "$work/$name.d"
	fi
	(cd "$folder" && "$go" build "$@" -o "$work/$name" "$package")
	chmod 755 "$work"
	# Another build of the same program may have been faster.
	mv -T "$work" "$kept" 2>/dev/null || [ -x "$kept/$name" ]
fi
# For make, which compares times, and for the removal of what is not used.
touch -c "$kept" "$kept/$name"
mkdir -p "$(dirname "$out")"
ln -fT "$kept/$name" "$out" 2>/dev/null || cp --remove-destination "$kept/$name" "$out" # on another disk
if [ -n "${FILES:-}" ]; then
	rm -rf "$out.d"
	cp -R "$kept/$name.d" "$out.d"
fi
find "$cache" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
