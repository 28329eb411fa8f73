# SPDX-License-Identifier: MIT
# room: view
# Whatever something is called, the page shows it as text.
source "$SRC/tests/view/start.bash"
need_browser
python3 - <<'EOF'
names = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "x" * 5000, "\x1b[31mred\u202e", "a&amp;b"]
with open("<b>n.csv", "w") as f:
    f.write("Time [s]," + ",".join('"%s"' % n for n in names) + "\n")
    for k in range(40):
        f.write("%g,%s\n" % (k / 10, ",".join(str(k >> i & 1) for i in range(len(names)))))
EOF
coeval import -o s '<b>n.csv' --node '"><svg onload=alert(3)>' > log 2>&1 || cat log
start_view s
timeout 100 node "$SRC/tests/view/names.mjs" "$(cat address)" "$PWD/npm"
kill $viewer

echo "== as one file"
coeval view s --html s.html
timeout 100 node "$SRC/tests/view/names.mjs" "file://$PWD/s.html" "$PWD/npm"
