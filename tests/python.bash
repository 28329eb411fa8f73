# SPDX-License-Identifier: MIT
# Sourced by tests of the Python package: the system's Python, which finds it where it was built.
need python3
build=$(dirname "$(command -v coeval)")
[ -e "$build/python/coeval/_coeval.abi3.so" ] || skip "the Python package was not built; apt-get install python3-dev"
without_sanitizers # Python is built without
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 MPLBACKEND=Agg
python=/usr/bin/python3

# with MODULE...: those of Debian, for the system's Python
with() {
	local module

	for module; do
		"$python" -c "import $module" 2>/dev/null || skip "$module is not installed; apt-get install python3-$module"
	done
}

# wheels PACKAGE...: a Python with these from PyPI, which tests share
wheels() {
	local venv=$SRC/build/venv

	mkdir -p "$SRC/build"
	exec 8>"$SRC/build/venv.lock"
	flock 8
	[ -x "$venv/bin/pip" ] || "$python" -m venv "$venv" >venv.log 2>&1 || skip "no virtual environment: $(tail -n 1 venv.log)"
	"$venv/bin/python" -m pip install -q "$@" >pip.log 2>&1 || skip "pip cannot install $*: $(tail -n 1 pip.log)"
	exec 8>&-
	python=$venv/bin/python
}
