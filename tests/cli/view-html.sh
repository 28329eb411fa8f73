# SPDX-License-Identifier: MIT
# room: view
# One file with the page and its data: the same is in it as in the live page, within its size, and it asks nobody.
source "$SRC/tests/view/start.bash"
need_browser
run() {
	echo "\$ $*"
	"$@" 2>&1
	echo "-> $?"
}
coeval demo --seconds 8 -o demo > demo.log || cat demo.log
coeval import -o hosts "$SRC/examples/two-hosts" > log || cat log
coeval sync hosts --match "$SRC/examples/rules/radio.yaml" > log || cat log
for session in demo/session hosts; do # the whole of each is in it
	echo "== $session"
	run coeval view $session --html page.html
	start_view $session
	timeout 100 node "$SRC/tests/view/html.mjs" "$(cat address)" "$PWD/page.html" "$PWD/npm"
	kill $viewer
done

echo "== a part"
run coeval view hosts --from 2 --until 2.5 --html part.html
[ "$(stat -c %s part.html)" -lt "$(stat -c %s page.html)" ] || echo "it is no smaller"

echo "== too much"
python3 -c '
import random
random.seed(1)
open("noise.raw", "wb").write(random.randbytes(6000000))'
coeval import -o noise noise.raw --format raw --rate 1M --channels 8 > log || cat log
run coeval view noise --html noise.html 2>&1 | sed 's/ of [0-9.]* [mun]*s;/ of LENGTH;/'
size=$(stat -c %s noise.html)
echo "at most 20 MB: $([ "$size" -le 20971520 ] && echo yes || echo "$size"), more than 10: $([ "$size" -gt 10485760 ] && echo yes || echo "$size")"

echo "== nothing is written by halves"
run coeval view absent --html page.html
run coeval view hosts --html no/where.html
grep -c "</html>" page.html
ls | grep new
true
