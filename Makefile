# What people run: make demo, make test, make bench, make lint. Everything else is a step of these.

SHELL  := /bin/bash
VENV   := .venv
PYTHON := $(VENV)/bin/python
DOUBLE := libweft_cuda_double.so
# Tests that run where WEFT_DEVICE says, and have most to do with kernels.
ON_CUDA := $(addprefix tests/python/test_,bad_input.py cooperation.py half.py overloads.py vectorize.py)

# The code that tests compile is kept from run to run, under a hash of all that it is made from. Rust's and Python's tests have a folder each.
KEPT = WEFT_CACHE=all WEFT_CACHE_DIR=$(CURDIR)/target/objects/$(1)

# Python tests run in so many processes: a test is mostly one compilation after the other.
AT_ONCE := -n auto --maxprocesses 4

.PHONY: help setup build demo test test-rust test-python math-exhaustive lint format bench gpu-check foreign-ptx foreign-ptx-setup peer-tests peer-tests-setup array-api-tests array-api-tests-setup framework-tests framework-tests-setup numpy-tests onnx-tests jax-tests jax-tests-setup opinfo-tests wheel numba-table clean

help:
	@echo "make demo    install what is missing, build Weft, render the Mandelbrot set on every device"
	@echo "make test    build Weft and run every test"
	@echo "make math-exhaustive   every float32 function on all its arguments, some minutes in all; goes on where it stopped"
	@echo "make bench   compare Weft with its peers and with hand-written code, as ratios"
	@echo "make gpu-check   test and measure on this machine's NVIDIA GPU"
	@echo "make peer-tests  run numba-cuda's own tests on Weft (make peer-tests-setup gets them)"
	@echo "make array-api-tests  run the Array API standard's own tests on Weft (make array-api-tests-setup gets them)"
	@echo "make framework-tests  run Weft's operations in PyTorch, JAX and TensorFlow (make framework-tests-setup gets these)"
	@echo "make numpy-tests  run all of NumPy's own tests of arrays with Weft behind its name, against the list of those that pass"
	@echo "make onnx-tests  run ONNX's backend node tests with weft.nn, against the list of those that do not pass"
	@echo "make jax-tests  run JAX's own tests of its transforms with Weft behind its names (make jax-tests-setup gets them)"
	@echo "make opinfo-tests  compare values and gradients with PyTorch's on its samples of every operator, where PyTorch is"
	@echo "make foreign-ptx  run what NVIDIA's compilers make of CUDA C and LLVM IR on the driver's double (make foreign-ptx-setup gets them)"
	@echo "make numba-table  compare the types, values and random numbers that Weft is tested with to those of the Numba in .venv-peers"
	@echo "make lint    formatting and lints"
	@echo "make wheel   build the release wheel into dist/"

# Installs only what is missing and says what it installs.
setup:
	@scripts/setup.sh $(VENV)

wheel: setup
	@rm -rf dist
	@echo "==> building the wheel (release)"
	@$(VENV)/bin/maturin build --release --locked --compression-level 1 --out dist --interpreter $(PYTHON)
	@$(PYTHON) scripts/repack.py dist/*.whl

# The driver's double is for tests, and in no wheel: it lies beside the package that it is tested with.
build: wheel
	@echo "==> installing the wheel into $(VENV)"
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall dist/weft-*.whl
	@cargo build --release --locked -p weft-cuda-double
	@cp target/release/$(DOUBLE) "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/weft/"

demo: build
	@$(VENV)/bin/weft demo

test: test-rust test-python

test-rust: setup
	@echo "==> Rust tests"
	@$(call KEPT,rust) cargo test --locked --workspace

# On a machine without an NVIDIA driver its double stands in, so that the CUDA tests run everywhere.
test-python: build
	@echo "==> Python tests"
	@$(call KEPT,python) WEFT_CUDA_DRIVER=$${WEFT_CUDA_DRIVER-double} $(PYTHON) -m pytest $(AT_ONCE)
	@echo "==> what says nothing of devices, on CUDA"
	@[ "$$WEFT_CUDA_DRIVER" = none ] || $(call KEPT,python) WEFT_CUDA_DRIVER=$${WEFT_CUDA_DRIVER-double} WEFT_DEVICE=cuda $(PYTHON) -m pytest -q $(AT_ONCE) $(ON_CUDA)

# Writes what it finds to tests/math/measured.json and docs/math.md. NAMES="sin exp" takes only these.
math-exhaustive: build
	@$(PYTHON) tests/math/exhaustive.py $(NAMES)
	@WEFT_CUDA_DRIVER=$${WEFT_CUDA_DRIVER-double} $(PYTHON) tests/math/measure.py

lint: setup
	@echo "==> formatting and lints"
	@cargo fmt --all --check
	@cargo clippy --locked --workspace --all-targets -- -D warnings
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .

format: setup
	@cargo fmt --all
	@$(VENV)/bin/ruff check --fix .
	@$(VENV)/bin/ruff format .

bench: build
	@benchmarks/run.sh

# On a machine with an NVIDIA driver, with Weft's wheel installed in the Python that runs it: tests and benchmarks on the GPU.
gpu-check:
	@$(or $(wildcard $(PYTHON)),python3) benchmarks/gpu/check.py

# numba-cuda's own tests, on Weft under Numba's name, against what is expected of each. They are fetched only when asked for, into a folder
# that git ignores, without anything they depend on.
peer-tests-setup: setup
	@rm -rf tests/peers/build
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --target tests/peers/build -r tests/peers/requirements.txt

peer-tests: build
	@WEFT_CUDA_DRIVER=$${WEFT_CUDA_DRIVER-double} $(PYTHON) tests/peers/run.py

# The Array API standard's own tests, with the standard as their submodule: cloned only when asked for, into a folder that git ignores. Those
# who have a clone name it in ARRAY_API_TESTS.
ARRAY_API_REVISION := 55fcc60
ARRAY_API_BUILD    := tests/array_api/build

array-api-tests-setup: setup
	@rm -rf $(ARRAY_API_BUILD)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --target $(ARRAY_API_BUILD)/packages -r tests/array_api/requirements.txt
	@[ -n "$$ARRAY_API_TESTS" ] || { git clone --quiet https://github.com/data-apis/array-api-tests $(ARRAY_API_BUILD)/array-api-tests \
	  && git -C $(ARRAY_API_BUILD)/array-api-tests -c advice.detachedHead=false checkout --quiet $(ARRAY_API_REVISION) \
	  && git -C $(ARRAY_API_BUILD)/array-api-tests submodule update --quiet --init --depth 1; }

array-api-tests: build
	@$(call KEPT,python) $(PYTHON) tests/array_api/run.py $(NAMES)

# Weft's operations in PyTorch, JAX and TensorFlow, which are fetched only when asked for (2 GB), into a folder that git ignores. NAMES="tests/frameworks/test_jax.py" takes only these.
FRAMEWORKS := tests/frameworks/build

framework-tests-setup: setup
	@rm -rf $(FRAMEWORKS)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --target $(FRAMEWORKS) -r tests/frameworks/requirements.txt

framework-tests: build
	@$(call KEPT,python) WEFT_CUDA_DRIVER=$${WEFT_CUDA_DRIVER-double} PYTHONPATH=$(CURDIR)/$(FRAMEWORKS) $(PYTHON) -m pytest -q $(or $(NAMES),tests/frameworks tests/examples/test_examples.py::test_is_right_in_a_framework)

# NumPy's own tests, those of the NumPy in .venv. WRITE=--write makes the lists of those that pass and of the others anew.
numpy-tests: build
	@$(call KEPT,python) $(PYTHON) tests/arrays/numpy_tests/run.py --all $(WRITE) $(NAMES)

# ONNX's backend node tests, which its package makes. WRITE=--write makes the list of those that do not pass anew; NAMES shows only these.
onnx-tests: build
	@$(call KEPT,python) $(PYTHON) tests/nn/onnx_nodes/run.py $(WRITE) $(NAMES)

# JAX's own tests of the version that their lists are of: cloned only when asked for, into a folder that git ignores. They need absl-py and
# ml_dtypes. WRITE=--write makes the lists of those that pass and of the others anew; NAMES are files like api_test.
JAX_REVISION := jax-v0.10.2
JAX_BUILD    := tests/jax_tests/build

jax-tests-setup: setup
	@rm -rf $(JAX_BUILD)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check -r tests/jax_tests/requirements.txt
	@git -c advice.detachedHead=false clone --quiet --depth 1 --filter=blob:none --sparse --branch $(JAX_REVISION) https://github.com/jax-ml/jax $(JAX_BUILD) \
	  && git -C $(JAX_BUILD) sparse-checkout set tests

jax-tests: build
	@$(call KEPT,python) $(PYTHON) tests/jax_tests/run.py $(WRITE) $(NAMES)

# PyTorch's samples of its operators. WRITE=--write makes the list of those that do not pass or are not covered anew.
opinfo-tests: build
	@$(call KEPT,python) $(PYTHON) tests/frameworks/opinfo.py $(WRITE)

# Kernels that NVIDIA's own compilers make, on the driver's double, against NumPy; and every form of every instruction, against ptxas. NVRTC is fetched only when asked for (170 MB), into a
# folder that git ignores; libNVVM comes with ptxas. NAMES="halves groups" takes only these.
foreign-ptx-setup: setup
	@rm -rf tests/foreign/build
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --target tests/foreign/build -r tests/foreign/requirements.txt

foreign-ptx: build
	@$(PYTHON) tests/foreign/run.py $(NAMES)
	@[ -n "$(NAMES)" ] || $(PYTHON) tests/foreign/forms.py

# Needs an environment with Numba. WRITE=--write writes the tables anew.
numba-table:
	@$(or $(NUMBA_PYTHON),.venv-peers/bin/python) tests/numba_dialect/measure.py $(WRITE)
	@$(or $(NUMBA_PYTHON),.venv-peers/bin/python) tests/library/numba_draws.py $(WRITE)

clean:
	rm -rf target dist $(VENV)
