# SPDX-License-Identifier: MIT
# room: cli
# The manual pages are well-formed, and each of them is about its command.
mkdir pages
coeval man --output pages
[ "$(ls pages | wc -l)" -ge 25 ] || echo "only $(ls pages | wc -l) pages"
if command -v mandoc >/dev/null; then
	mandoc -T lint -W warning pages/*.1
elif command -v man >/dev/null && man -V 2>&1 | grep -q man; then
	for page in pages/*.1; do
		LC_ALL=C.UTF-8 man --warnings=all -l "$page" 2>&1 >text
		name=$(basename "$page" .1)
		grep -q -e "$name" text || echo "$name.1 does not name $name"
	done
else
	skip "neither mandoc nor man is installed; apt-get install mandoc"
fi >said
cat said
[ ! -s said ]
