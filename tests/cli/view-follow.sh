# SPDX-License-Identifier: MIT
# room: view
# Several clocks are captured and tied meanwhile: one comes late, one falls silent; nothing else is run, and the session is left as it was.
source "$SRC/tests/view/start.bash"
need_browser
grow=$(dirname "$(command -v coeval)")/tests/grow
[ -x "$grow" ] || skip "grow is not built"
"$grow" s 6 1500 20000 &
until [ -s s/traces/n3/stream ]; do sleep 0.1; done
start_view s
timeout 200 node "$SRC/tests/view/follow.mjs" "$(cat address)" "$PWD/npm" "${PICTURE-}"
kill $viewer
wait
ls s
