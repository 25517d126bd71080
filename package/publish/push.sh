#!/usr/bin/env bash
# Pushes the images and packages of a release, which make release-dry has built in the folder
# OUT, and prints the reference of each with its digest. REGISTRY takes the place of ghcr.io.
# A published version never changes: what is there with the same digest stays, and another
# digest is an error.
#   push.sh OUT [REGISTRY]
set -euo pipefail
out=$1 registry=${2:-ghcr.io}
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

while read -r image; do
  image=$registry/${image#ghcr.io/}
  tag=${image%@*} digest=${image#*@} name=${tag##*/} name=${name%%:*}
  if published=$(crane digest "$tag" 2>"$answer"); then
    if [ "$published" != "$digest" ]; then
      echo "cannot publish $tag: it is published with another digest, $published, than $digest: release the next version." >&2
      exit 1
    fi
  elif grep -qE 'MANIFEST_UNKNOWN|NAME_UNKNOWN|NOT_FOUND|DENIED' "$answer"; then # a new package is denied until it exists
    crane push "$out/oci/$name" "$tag" >&2
  else
    cat "$answer" >&2
    exit 1
  fi
  echo "$image"
done <"$out/oci/images.txt"
