# SPDX-License-Identifier: MIT
# room: sync
# Two traced programs in network namespaces of their own: the datagrams between them tie their clocks, within bounds that hold.
status=0
"$SRC/examples/two-namespaces/run" out 100 >log 2>&1 || status=$?
[ $status -ne 77 ] || skip "$(sed -n 's/^SKIP [^:]*: //p' log)"
[ $status -eq 0 ] || cat log
echo "exit status $status"
# 100 exchanges: both send and receive each, but for those from before the other was there
awk '/^answer +good/ && $6 >= 150 && $6 <= 201 && $NF == "proven" { print "answer is tied" }
	/outside of their bound/ { sub(/^[0-9]+ /, ""); print }' log
