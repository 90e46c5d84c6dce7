#!/usr/bin/env bash
# Prints a folder with the program `pgbouncer` and the libraries that it needs beside the system's: what PATH has, else Debian's package,
# unpacked once into the cache without being installed (that would start a service). Needs apt-get and root for the latter.
set -euo pipefail

cache=${EDGEMERE_SERVICES_CACHE:-$HOME/.cache/edgemere-services}/pgbouncer
if command -v pgbouncer >/dev/null; then dirname "$(command -v pgbouncer)"; exit; fi
if [[ ! -e $cache/.complete ]]; then
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    echo "pgbouncer.sh: pgbouncer is needed (or apt-get and root, to fetch it)" >&2
    exit 1
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/archives/partial" "$work/root" "$work/folder"
  {
    apt-get update -qq
    apt-get install -qq -y --no-install-recommends --download-only -o Dir::Cache::archives="$work/archives" pgbouncer
  } >&2
  for package in "$work"/archives/*.deb; do dpkg -x "$package" "$work/root"; done
  find "$work/root" \( -name pgbouncer -o -name '*.so.*' \) -path '*/usr/*' ! -type d -exec cp -P {} "$work/folder" \;
  [[ -f $work/folder/pgbouncer && -x $work/folder/pgbouncer ]] || { echo "pgbouncer.sh: the package has no program" >&2; exit 1; }
  mkdir -p "$(dirname "$cache")"
  rm -rf "$cache"
  mv "$work/folder" "$cache"
  touch "$cache/.complete"
fi
echo "$cache"
