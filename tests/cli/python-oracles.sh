# SPDX-License-Identifier: MIT
# room: table; full
# What others read of a table: pandas, polars, pyarrow and DuckDB, with the wheel installed in a virtual environment.
source "$SRC/tests/python.bash"
wheels numpy pandas polars pyarrow duckdb mypy "setuptools<80" wheel
coeval sim "$SRC/tests/table/world.yaml" -o s >/dev/null
coeval sync s >/dev/null
"$python" "$SRC/tests/table/oracles.py" s
"$python" -m mypy.stubtest coeval --ignore-missing-stub --mypy-config-file /dev/null >stubs.log 2>&1 && echo "stubs as the package" || grep "^error" stubs.log

# The wheel alone, as somebody else would install it.
cp -r "$SRC/python" source
(cd source && COEVAL_BUILD=$build COEVAL_SOURCE=$SRC "$python" setup.py -q bdist_wheel -d ../wheel) >wheel.log 2>&1 || tail -n 5 wheel.log
"$python" -m venv fresh >/dev/null && fresh/bin/python -m pip install -q --no-index --no-deps wheel/*.whl >/dev/null 2>&1
env -u PYTHONPATH fresh/bin/python "$SRC/tests/table/python.py" s
