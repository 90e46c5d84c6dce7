#!/usr/bin/env bash
# Takes DuckDB extensions out of PyPI wheels, for machines that can't reach DuckDB's own extension host.
#   duckdb-extensions.sh VERSION DIR NAME...     what DIR holds already is kept
set -euo pipefail

version=$1 dir=$2
shift 2
python=$(command -v python3 || true)
if [[ -z $python ]] || ! "$python" -m pip --version >/dev/null 2>&1; then
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    echo "duckdb-extensions.sh: python3 with pip is needed (or apt-get and root, to install it)" >&2
    exit 1
  fi
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3 python3-pip; } >&2
  python=$(command -v python3)
fi
mkdir -p -- "$dir"
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
for name in "$@"; do
  file=$name.duckdb_extension
  [[ -s $dir/$file ]] && continue
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$work/$name" \
    "duckdb-extension-${name//_/-}==$version" >&2
  "$python" -m zipfile -e "$work/$name"/*.whl "$work/$name"
  part=$(mktemp -- "$dir/.part.XXXXXX")
  cat "$(find "$work/$name" -name "$file")" >"$part"
  chmod 644 "$part"
  mv -- "$part" "$dir/$file" # other test runs may do the same at once
done
