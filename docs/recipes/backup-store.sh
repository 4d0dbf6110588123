#!/usr/bin/env bash
# Back up a lineage store that is a folder, and keep the newest ones: backup-store.sh .graft/store backups
# Run it while nothing collects. To restore: rm -r .graft/store && tar -xzf backups/… -C .graft
set -euo pipefail
store=${1:?usage: backup-store.sh STORE FOLDER [KEEP]}
folder=${2:?usage: backup-store.sh STORE FOLDER [KEEP]}
keep=${3:-14}

[ -d "$store/batches" ] || { echo "$store is no lineage store" >&2; exit 1; }
mkdir -p "$folder"
file=$folder/store-$(date -u +%Y%m%dT%H%M%SZ).tar.gz
tar -czf "$file.part" -C "$(dirname "$store")" "$(basename "$store")"
mv "$file.part" "$file"
echo "$file"
ls -1 "$folder"/store-*.tar.gz | sort -r | tail -n "+$((keep + 1))" | while read -r old; do rm "$old"; done
