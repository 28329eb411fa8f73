# SPDX-License-Identifier: MIT
# room: view
# What analyses found is what their verbs say; sums between cursors; words of events; notes.
source "$SRC/tests/view/start.bash"
need python3
coeval demo --seconds 8 -o demo > log 2>&1 || cat log
coeval import -o hosts "$SRC/examples/two-hosts" > log 2>&1 && coeval sync hosts --match "$SRC/examples/rules/radio.yaml" > log 2>&1 || cat log
coeval import -o sobel "$SRC/examples/calls/sobel" > log 2>&1 || cat log
look() {
	echo "== $1"
	start_view "$@"
	timeout 100 python3 "$SRC/tests/view/found.py" "$(cat address)" "$1" $rules
	kill $viewer
}
rules=$SRC/examples/checks/demo.yaml look demo/session --check "$SRC/examples/checks/demo.yaml"
look hosts
look sobel

echo "== what cannot be looked for"
coeval view demo/session --check none.yaml --no-open
echo "exit status $?"
coeval view demo/session --line SEND --no-open
echo "exit status $?"
start_view demo/session --power NOTHING
python3 "$SRC/tests/view/notes.py" "$(cat address)" problems
kill $viewer

echo "== notes"
start_view hosts
python3 "$SRC/tests/view/notes.py" "$(cat address)" write
coeval session verify hosts | grep annotations
python3 "$SRC/tests/view/notes.py" "$(cat address)" race
kill $viewer
start_view hosts --read-only
python3 "$SRC/tests/view/notes.py" "$(cat address)" refuse
kill $viewer
coeval session join demo/session hosts -o both > log 2>&1 || cat log
start_view both
python3 "$SRC/tests/view/notes.py" "$(cat address)" read
kill $viewer
sed -i 's/"text": "\(.\)/"text": "x\1/' hosts/annotations.json
start_view hosts
python3 "$SRC/tests/view/notes.py" "$(cat address)" read
kill $viewer

echo "== sessions in a folder, and metrics"
mkdir -p all/below empty
mv both all/ && mv hosts all/below/
coeval view empty --no-open
echo "exit status $?"
echo "a-secret-of-16-or-more" > secret
start_view all --secret secret
cut -d'#' -f2 address
python3 "$SRC/tests/view/notes.py" "$(cat address)" folder
kill $viewer
echo short > secret
coeval view all --secret secret --no-open
echo "exit status $?"
