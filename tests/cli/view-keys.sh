# SPDX-License-Identifier: MIT
# room: view
# All by the keyboard.
source "$SRC/tests/view/start.bash"
need_browser
coeval demo --seconds 8 -o demo > log 2>&1 || cat log
start_view demo/session --check "$SRC/examples/checks/demo.yaml"
first=$viewer
cp address one
coeval import -o hosts "$SRC/examples/two-hosts" > log 2>&1 || cat log
start_view hosts
timeout 100 node "$SRC/tests/view/keys.mjs" "$(cat one)" "$PWD/npm" "$(cat address)"
echo "exit status $?"
kill $viewer $first
