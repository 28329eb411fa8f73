# SPDX-License-Identifier: MIT
# room: table; full
# The examples of docs/python.md show what they give, the notebooks run, and docs/tables.md shows the columns that there are.
source "$SRC/tests/python.bash"
with numpy pandas matplotlib
ln -s "$SRC/examples" examples
"$python" -m doctest -o ELLIPSIS "$SRC/docs/python.md"
"$python" "$SRC/tests/table/doc.py" s "$SRC/docs/tables.md"
need file
mkdir page bin
ln -s "$python" bin/python3
cp -r "$SRC/examples" page/
mkdir page/tests
cp "$SRC/tests/notebook.py" page/tests/
(cd page && PATH=$PWD/../bin:$PATH python3 "$SRC/tests/run_docs.py" "$SRC/docs/howto-notebook.md")
for notebook in examples/notebooks/*.ipynb; do
	PICTURE=$PWD/picture.png "$python" "$SRC/tests/notebook.py" "$notebook" > out || cat out
	file=$(head -c 4 picture.png | tail -c 3)
	[ "$file" = PNG ] || echo "$notebook: no picture"
done
