# SPDX-License-Identifier: MIT
# room: uplink
# Captures, senders, the collector and the server get SIGKILL again and again: nothing is lost, nothing is stored twice. The runs are
# mostly idle, and go at the same time.
source "$SRC/tests/uplink/start.bash"
need openssl
modes="plain rollback full keys cluster-all"
seed=${COEVAL_SEED:-$RANDOM}
for mode in $modes; do
	mkdir $mode
	(cd $mode && exec timeout 200 python3 "$SRC/tests/uplink/kill.py" "$(command -v coeval)" "$(command -v nats-server)" \
		"${COEVAL_KILL_SECONDS:-12}" "$seed" $mode 3 >said 2>notes || echo "exit status $?" >>said) &
done
wait
for mode in $modes; do
	echo "== $mode"
	cat $mode/said
	cat $mode/notes >&3
done
