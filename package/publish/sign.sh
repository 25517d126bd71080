#!/usr/bin/env bash
# Signs the digests of the Terraform provider of a release, which make release-dry has built in
# the folder OUT, as registries of providers expect it. KEY is the private key, whose public
# half they have, and PASSPHRASE opens it.
#   KEY=... PASSPHRASE=... sign.sh OUT
set -euo pipefail
sums=("$1"/files/terraform-provider-koldun_*_SHA256SUMS)
GNUPGHOME=$(mktemp -d)
export GNUPGHOME
trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
gpg --batch --quiet --import <<<"$KEY"
gpg --batch --pinentry-mode loopback --passphrase-fd 3 --detach-sign "${sums[0]}" 3<<<"$PASSPHRASE"
