#!/usr/bin/env bash
# Publish build/site to an object store: publish.sh s3://bucket/lineage
# Pages that are gone are removed there. Set `site.url` in graft.yml to the address that people see.
set -euo pipefail
site=build/site
target=${1:?usage: publish.sh s3://… | gs://… | az://account/container}

[ -f "$site/index.html" ] || { echo "there is no site: run graft build" >&2; exit 1; }
case $target in
  s3://*) aws s3 sync "$site" "$target" --delete ;;
  gs://*) gcloud storage rsync "$site" "$target" --recursive --delete-unmatched-destination-objects ;;
  az://*)
    place=${target#az://}
    az storage blob sync --account-name "${place%%/*}" --container "${place#*/}" \
      --source "$site" --auth-mode login --delete-destination true ;;
  *) echo "cannot publish to $target" >&2; exit 2 ;;
esac
