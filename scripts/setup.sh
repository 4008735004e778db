#!/usr/bin/env bash
# Installs what building and testing Weft needs and is not there yet. Safe to run again: what is present is left alone.
#
#   scripts/setup.sh VENV
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${1:-.venv}

say() { echo "==> $*"; }
fail() { echo "setup: $*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "not root and no sudo: please run '$*' as root, then try again"
  fi
}

# Debian packages: LLVM to link against, a linker, headers for the venv; Mesa's Vulkan driver for the CPU, Vulkan's validation layer and SPIR-V's
# validator, which tests of the GPU back end use.
missing_packages() {
  [ -x /usr/lib/llvm-22/bin/llvm-config ] || [ -n "${LLVM_SYS_221_PREFIX:-}" ] || echo llvm-22-dev
  command -v c++ >/dev/null || echo g++
  python3 -c 'import venv, ensurepip' 2>/dev/null || echo python3-venv
  compgen -G '/usr/share/vulkan/icd.d/lvp_icd.*' >/dev/null || echo mesa-vulkan-drivers
  compgen -G '/usr/lib/*/libvulkan.so.1' >/dev/null || echo libvulkan1
  command -v spirv-val >/dev/null || echo spirv-tools
  compgen -G '/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation*' >/dev/null || echo vulkan-validationlayers
}

# SwiftShader, a Vulkan driver for the CPU that has neither float64 nor int64, as most small GPUs. Debian has it inside a browser's package, of
# which two files are taken. Without it the tests of such GPUs are skipped.
fetch_swiftshader() {
  local folder
  [ ! -f /usr/lib/chromium/vk_swiftshader_icd.json ] && [ ! -f "$venv/swiftshader/vk_swiftshader_icd.json" ] || return 0
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 0
  say "fetching SwiftShader out of Debian's chromium-common"
  folder=$(mktemp -d)
  if (cd "$folder" && apt-get download -qq chromium-common && dpkg-deb --fsys-tarfile ./*.deb | tar -x ./usr/lib/chromium) 2>/dev/null; then
    mkdir -p "$venv/swiftshader"
    for file in libvk_swiftshader.so vk_swiftshader_icd.json; do cp "$folder/usr/lib/chromium/$file" "$venv/swiftshader/"; done
  else
    say "SwiftShader could not be fetched: tests of GPUs without float64 will be skipped"
  fi
  rm -rf "$folder"
}

install_packages() {
  local packages
  packages=$(missing_packages)
  [ -n "$packages" ] || return 0
  command -v apt-get >/dev/null || fail "missing: $(echo $packages) (install them with your system's package manager)"
  say "installing $(echo $packages)"
  as_root apt-get update -qq || say "the package lists could not be refreshed; trying with those at hand"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null \
    || fail "could not install: $(echo $packages)"
}

check_tools() {
  command -v cargo >/dev/null || fail "missing: Rust 1.95 or newer (cargo is not on the path)"
  command -v python3 >/dev/null || fail "missing: Python 3.10 or newer"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || fail "Python 3.10 or newer is needed; python3 is $(python3 -V)"
}

# The venv, remade when the list of what goes in has changed.
make_venv() {
  local wanted stamp
  stamp="$venv/.weft-requirements"
  wanted=$(cat scripts/requirements.txt)
  if [ -x "$venv/bin/python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then return 0; fi
  say "making $venv with $(echo $wanted | tr ' ' ',')"
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv" || fail "could not make a virtual environment in $venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt \
    || fail "could not install into $venv: $(echo $wanted)"
  echo "$wanted" >"$stamp"
}

check_tools
install_packages
make_venv
fetch_swiftshader
