# SPDX-License-Identifier: MIT
# room: view
# The page of a view, in a browser.
source "$SRC/tests/view/start.bash"
need_browser
coeval demo -o demo --seconds 12 > log 2>&1 || cat log
start_view demo/session
timeout 200 node "$SRC/tests/view/page.mjs" "$(cat address)" "$PWD/npm"
echo "exit status $?"
kill $viewer
