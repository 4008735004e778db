#!/usr/bin/env bash
# What `make bench` runs: installs what is missing for the comparison, then measures. Arguments go to run.py (--list, --quick, --record, names);
# `run.sh math` measures the elementary functions instead (math/run.py), `run.sh library` NumPy's functions of arrays (library/run.py),
# `run.sh arrays` array code on Weft's arrays (arrays/run.py), `run.sh linalg` linear algebra (linalg/run.py).
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv-peers
python=$venv/bin/python

say() { echo "==> $*"; }

apt_install() {
  local missing=()
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "install ok installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local sudo=()
  [[ $(id -u) == 0 ]] || sudo=(sudo)
  say "installing ${missing[*]}, for the hand-written limits"
  "${sudo[@]}" apt-get install -y -q "${missing[@]}" >/dev/null ||
    echo "missing: ${missing[*]}. The hand-written limits will be shown as \"not installed\"." >&2
}

peers_install() {
  if [[ ! -x $python ]]; then
    say "making $venv"
    python3 -m venv "$venv"
  fi
  local line
  while read -r line; do
    [[ -z $line || $line == \#* ]] && continue
    "$python" - "$line" <<'CHECK' && continue
import importlib.metadata, sys
name, _, version = sys.argv[1].partition("==")
try:
    sys.exit(importlib.metadata.version(name.partition("[")[0]) != version)
except importlib.metadata.PackageNotFoundError:
    sys.exit(1)
CHECK
    say "installing $line into $venv"
    "$python" -m pip install --quiet --disable-pip-version-check "$line" ||
      echo "missing: $line could not be installed. It will be shown as \"not installed\"." >&2
  done <benchmarks/requirements-peers.txt
}

weft_install() {
  local wheel
  wheel=$(ls -t dist/weft-*.whl 2>/dev/null | head -n 1 || true)
  if [[ -z $wheel ]]; then
    echo "missing: dist/weft-*.whl; \`make wheel\` builds it. Weft will be shown as \"not installed\"." >&2
    return 0
  fi
  say "installing $wheel into $venv"
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"
  # Benchmarks of GPU code that say what is executed run on the driver's double where there is no GPU.
  cp target/release/libweft_cuda_double.so "$("$python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/weft/" 2>/dev/null || true
}

if command -v apt-get >/dev/null; then
  apt_install clang-22 libomp-22-dev
fi
peers_install
weft_install
# OpenMP runtimes of several contenders share the process: idle threads must not spin while others are timed.
export KMP_BLOCKTIME=1
if [[ ${1-} == math || ${1-} == library || ${1-} == arrays || ${1-} == linalg ]]; then
  exec "$python" "benchmarks/$1/run.py" "${@:2}"
fi
exec "$python" benchmarks/run.py "$@"
