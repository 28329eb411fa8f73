# SPDX-License-Identifier: MIT
# Every verb that `coeval help` lists ("  verb   what it does") has its place in the manual page and
# in the completion.
verbs=$(coeval help | sed -n 's/^  *\([a-z][a-z-]*\)  .*/\1/p')
[ -n "$verbs" ] || { echo "coeval help lists no verbs"; exit 1; }

status=0
for verb in $verbs; do
	grep -q "Cm $verb\b" "$SRC/docs/coeval.1" || { echo "$verb is not in docs/coeval.1"; status=1; }
	grep -qw "$verb" "$SRC/completions/coeval" || { echo "$verb is not in completions/coeval"; status=1; }
done
exit $status
