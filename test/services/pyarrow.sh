#!/usr/bin/env bash
# Installs pyarrow from PyPI, once, into the cache, and prints its folder, which PYTHONPATH takes, and nothing else on
# standard output. Needs python3 with pip. EDGEMERE_SERVICES_CACHE: where such things are installed.
set -euo pipefail

readonly version=26.0.1
cache=${EDGEMERE_SERVICES_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/edgemere-services}

die() { printf 'pyarrow.sh: %s\n' "$*" >&2; exit 1; }

python=$(command -v python3 || true)
[[ -n $python ]] && "$python" -m pip --version >/dev/null 2>&1 || die "python3 with pip is needed"
prefix=$cache/pyarrow-$version-py$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [[ ! -e $prefix/.complete ]]; then
  mkdir -p -- "$cache"
  part=$(mktemp -d -- "$cache/.part.XXXXXX")
  PIP_USER=0 PIP_ROOT_USER_ACTION=ignore "$python" -m pip install --quiet --disable-pip-version-check --no-input \
    --only-binary :all: --no-warn-conflicts --target "$part" "pyarrow==$version" >&2 ||
    { rm -rf -- "$part"; die "pip could not install pyarrow $version"; }
  touch -- "$part/.complete"
  mv -T -- "$part" "$prefix" 2>/dev/null || rm -rf -- "$part" # another test run was first
  [[ -e $prefix/.complete ]] || die "could not install into $prefix"
fi
printf '%s\n' "$prefix"
