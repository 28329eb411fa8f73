# SPDX-License-Identifier: MIT
# room: view
# The page of a view, in a browser.
need chromium
need node
need npm
mkdir npm && cd npm
npm install --no-save --no-audit --no-fund playwright-core@1 > ../npm.log 2>&1 || skip "npm cannot install playwright-core: $(tail -n 1 ../npm.log)"
cd ..
coeval demo -o demo --seconds 12 > log 2>&1 || cat log
coeval view demo/session --no-open > address 2> told &
viewer=$!
for _ in $(seq 100); do
	[ -s address ] && break
	sleep 0.1
done
if [ ! -s address ]; then
	grep -q libmicrohttpd told && skip "built without libmicrohttpd; apt-get install libmicrohttpd-dev"
	cat told
	exit 1
fi
CHROMIUM=$(command -v chromium) timeout 200 node "$SRC/tests/view/page.mjs" "$(cat address)" "$PWD/npm"
echo "exit status $?"
kill $viewer
