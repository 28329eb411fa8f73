# SPDX-License-Identifier: MIT
# room: cli
# Every verb that `coeval help` lists ("  verb   what it does"), and every option that its help tells, has its
# place in the manual page and in the completion.
verbs=$(coeval help | sed -n 's/^  *\([a-z][a-z-]*\)  .*/\1/p')
[ -n "$verbs" ] || { echo "coeval help lists no verbs"; exit 1; }

status=0
missing() {
	echo "$1 is not in $2"
	status=1
}
while read -r verb; do
	grep -q "Cm $verb\b" "$SRC/docs/coeval.1" || missing "$verb" docs/coeval.1
	completion=$(sed -n "s/^\t*${verb#* }) words=\"\(.*\)\" ;;.*/\1/p" "$SRC/completions/coeval" | tail -n 1)
	# What is not a part of the verb is the rest.
	[ -n "$completion" ] ||
		completion=$(sed -n "/^\t*$verb)\$/,/esac/s/^\t*\*) words=\"\(.*\)\" ;;/\1/p" "$SRC/completions/coeval")
	manual=$(sed -n "/^\.It Cm $verb/,/^\.It Cm/p" "$SRC/docs/coeval.1")
	# shellcheck disable=SC2086
	for option in $(coeval help $verb | grep -o -- '^  *\(-., \)\?--[a-z-]*' | grep -o -- '--[a-z-]*'); do
		[[ " $completion " == *" $option "* ]] || missing "$verb $option" completions/coeval
		grep -q -- "-${option#--}\b" <<<"$manual" || missing "$verb $option" docs/coeval.1
	done
done < <(printf '%s\n' $verbs "task plan" "task freq" "task bench" "flow assign" "session verify")
exit $status
