#!/usr/bin/env bash
# Pushes the chart of a release, which make release-dry has built in the folder OUT, and prints
# its reference with its digest. REGISTRY takes the place of ghcr.io, and FLAGS are those of
# helm push. A published version never changes: the same chart stays as it is there, which its
# digest tells, and another chart is an error.
#   push-chart.sh OUT [REGISTRY [FLAGS]]
set -euo pipefail
out=$1 registry=${2:-ghcr.io}
flags=("${@:3}")
version=$(basename "$out")
version=${version#v}
chart=$out/files/koldun-$version.tgz
charts=$registry/gorizond/charts
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

if manifest=$(crane manifest "$charts/koldun:$version" 2>"$answer"); then
  content=sha256:$(sha256sum "$chart" | cut -d ' ' -f 1)
  if ! grep -q "\"$content\"" <<<"$manifest"; then
    echo "cannot publish chart $charts/koldun:$version: it is published with other content than $content: release the next version." >&2
    exit 1
  fi
elif grep -qE 'MANIFEST_UNKNOWN|NAME_UNKNOWN|NOT_FOUND|DENIED' "$answer"; then # a new package is denied until it exists
  helm push "${flags[@]}" "$chart" "oci://$charts" >&2
else
  cat "$answer" >&2
  exit 1
fi
echo "$charts/koldun:$version@$(crane digest "$charts/koldun:$version")"
