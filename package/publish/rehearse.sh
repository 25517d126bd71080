#!/usr/bin/env bash
# Publishes a release, which make release-dry has built in the folder OUT for all platforms, as
# the workflow does, but to a registry on this machine and with a key for this run alone. It
# fails if a program lacks a platform, or if another run would change what is published.
#   rehearse.sh OUT
set -euo pipefail
out=$1 here=$(dirname "$0")
work=$(mktemp -d)
registry=
cleanup() {
  [ -z "$registry" ] || kill "$registry"
  GNUPGHOME=$work gpgconf --kill all
  rm -rf "$work"
}
trap cleanup EXIT

crane registry serve --address 127.0.0.1:0 >"$work/log" 2>&1 &
registry=$!
address=
for _ in $(seq 100); do
  address=$(sed -n 's/.*serving on port \([0-9]*\).*/127.0.0.1:\1/p' "$work/log")
  [ -z "$address" ] || break
  kill -0 "$registry"
  sleep 0.1
done
[ -n "$address" ] || { cat "$work/log" >&2; exit 1; }

"$here/push.sh" "$out" "$address" | tee "$work/published"
"$here/push.sh" "$out" "$address" | diff "$work/published" -
while read -r image; do
  case $image in
    */koldun:* | */koldun-function:* | */koldun-provider:*) # they run
      for arch in amd64 arm64; do
        config=$(crane config --platform "linux/$arch" "$image")
        case $config in
          *"\"architecture\":\"$arch\""*) ;;
          *)
            echo "cannot run $image on $arch: its image is $config" >&2
            exit 1
            ;;
        esac
      done
      ;;
  esac
  crane validate --remote "$image"
done <"$work/published"

"$here/push-chart.sh" "$out" "$address" --plain-http >"$work/chart"
"$here/push-chart.sh" "$out" "$address" --plain-http | diff "$work/chart" -

# A version that is there with other content is never published again.
mkdir -p "$work/other/files"
version=$(basename "$out")
ln -s "$work/other" "$work/$version"
echo other >"$work/other/files/koldun-${version#v}.tgz"
if "$here/push-chart.sh" "$work/$version" "$address" >"$work/again" 2>&1 || ! grep -q 'published with other content' "$work/again"; then
  echo "a published chart was published again:" >&2
  cat "$work/again" >&2
  exit 1
fi
crane copy "$address/gorizond/koldun" "$address/gorizond/koldun-provider" --all-tags 2>"$work/log"
if "$here/push.sh" "$out" "$address" >"$work/again" 2>&1 || ! grep -q 'published with another digest' "$work/again"; then
  echo "a published version was published again:" >&2
  cat "$work/again" >&2
  exit 1
fi

chmod 700 "$work"
export GNUPGHOME=$work
gpg --batch --quiet --passphrase secret --quick-generate-key rehearsal@example.org ed25519 sign never
KEY=$(gpg --batch --pinentry-mode loopback --passphrase secret --armor --export-secret-keys) PASSPHRASE=secret "$here/sign.sh" "$out"
sums=("$out"/files/terraform-provider-koldun_*_SHA256SUMS)
gpg --batch --verify "${sums[0]}.sig" "${sums[0]}"
rm "${sums[0]}.sig"
echo "Rehearsed $out."
