# SPDX-License-Identifier: MIT
# For the tests of the page: source it.

# playwright-core, in the folder npm.
need_browser() {
	need chromium
	need node
	need npm
	mkdir npm
	(cd npm && npm install --no-save --no-audit --no-fund playwright-core@1) > npm.log 2>&1 ||
		skip "npm cannot install playwright-core: $(tail -n 1 npm.log)"
	CHROMIUM=$(command -v chromium)
	export CHROMIUM
}

# Views session $1 with options; its address is in the file address, and its process is $viewer.
start_view() {
	rm -f address
	coeval view "$@" --no-open > address 2> told &
	viewer=$!
	for _ in $(seq 100); do
		[ -s address ] && return
		kill -0 $viewer 2> gone || break
		sleep 0.1
	done
	grep -q libmicrohttpd told && skip "built without libmicrohttpd; apt-get install libmicrohttpd-dev"
	cat told
	exit 1
}
