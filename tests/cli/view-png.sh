# SPDX-License-Identifier: MIT
# room: view
# The picture of the README: what it shows is drawn, wherever the fonts are from.
need chromium
coeval demo -o demo > log || cat log
command=$(sed -n 's/^\*`\(coeval view .*\)`, in a browser.*/\1/p' "$SRC/README.md")
[ "$command" ] || echo "the README has no command for its picture"
$command --width 1500 --height 860 --png view.png 2> told || { grep -q libmicrohttpd told && skip "built without libmicrohttpd; apt-get install libmicrohttpd-dev"; cat told; }
for file in view.png "$SRC/docs/view.png"; do
	python3 - "$file" <<'EOF'
import struct, sys, zlib
data, at, packed = open(sys.argv[1], "rb").read(), 8, b""
while at < len(data):
    n, kind = struct.unpack(">I4s", data[at:at + 8])
    if kind == b"IHDR":
        width, height = struct.unpack(">II", data[at + 8:at + 16])
    if kind == b"IDAT":
        packed += data[at + 8:at + 8 + n]
    at += 12 + n
print(width, height, "not blank" if len(packed) > 60000 else "only %d bytes" % len(packed))
EOF
done
coeval view demo/session --select "$(printf 'x%.0s' {1..300})" --png p.png
echo "exit status $?"
PATH=$(dirname "$(command -v coeval)") coeval view demo/session --png p.png
echo "exit status $?"
ls p.png
