# SPDX-License-Identifier: MIT
# For tests of commands that need a NATS server of their own: Debian's, or the one that COEVAL_NATS_SERVER names.
if [ -n "${COEVAL_NATS_SERVER-}" ]; then
	[ -x "$COEVAL_NATS_SERVER" ] || { echo "COEVAL_NATS_SERVER: $COEVAL_NATS_SERVER is no program"; exit 1; }
	# coeval finds it by its name, as well
	mkdir .server
	ln -s "$(realpath "$COEVAL_NATS_SERVER")" .server/nats-server
	PATH=$PWD/.server:$PATH
fi
command -v nats-server >/dev/null || PATH=$PATH:/usr/sbin
command -v nats-server >/dev/null || skip "nats-server is not installed; apt-get install nats-server"
need python3
coeval send --help >/dev/null
if coeval send /nonexistent --server nats://127.0.0.1:1 --name x 2>&1 | grep -q 'built without libnats'; then
	skip "coeval is built without libnats; apt-get install libnats-dev"
fi

# ends PID: wait for it, but not for ever
ends() {
	timeout 90 tail --pid="$1" -f /dev/null || { echo "it does not end: $(cat /proc/"$1"/cmdline /proc/"$1"/task/*/wchan | tr "\\0" " ")"; kill -KILL "$1"; }
	wait "$1"
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# wait_for COMMAND...: until it succeeds
wait_for() {
	for _ in $(seq 300); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	echo "never: $*"
	return 1
}
