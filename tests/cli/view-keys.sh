# SPDX-License-Identifier: MIT
# room: view
# All by the keyboard.
source "$SRC/tests/view/start.bash"
need_browser
coeval demo --seconds 8 -o demo > log 2>&1 || cat log
start_view demo/session --check "$SRC/examples/checks/demo.yaml"
timeout 100 node "$SRC/tests/view/keys.mjs" "$(cat address)" "$PWD/npm"
echo "exit status $?"
kill $viewer
