# SPDX-License-Identifier: MIT
# room: cli; full
# README and docs become web pages, whose links lead somewhere.
without_sanitizers
need pandoc
bash "$SRC/scripts/site" site
for page in "$SRC"/docs/*.md; do
	[ -s "site/docs/$(basename "$page" .md).html" ] || echo "no page of $page"
done
