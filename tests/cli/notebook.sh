# SPDX-License-Identifier: MIT
# room: table; full
# Jupyter itself runs the notebook, of its own simulated session and of one that is given, and leaves a picture.
source "$SRC/tests/python.bash"
wheels nbclient nbformat ipykernel numpy pandas matplotlib
cat >run.py <<'END'
import sys, nbclient, nbformat
book = nbformat.read(sys.argv[1], as_version=4)
nbformat.validate(book)
nbclient.NotebookClient(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": sys.argv[2]}}).execute()
for cell in book.cells:
    for output in cell.get("outputs", []):
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        if "picture" not in text:
            print(output.output_type, sorted(output.get("data", {})), text.strip().split("\n")[-1][:60] if output.output_type == "stream" else "")
END
cp -r "$SRC/examples/notebooks" copy
chmod -R a-w copy
coeval demo -o demo >/dev/null
unset MPLBACKEND
export HOME=$PWD JUPYTER_PLATFORM_DIRS=1
for session in "" "$PWD/demo/session"; do
	echo "== ${session:+session of coeval demo}"
	rm -f picture.png
	SESSION=$session PICTURE=$PWD/picture.png "$python" run.py copy/edges.ipynb copy 2>err || tail -n 3 err
	head -c 4 picture.png | tail -c 3
	echo
done
