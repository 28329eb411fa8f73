# SPDX-License-Identifier: MIT
# room: cli
# Every command that `coeval help` lists ("  command   what it does"), and every option that its help tells, has its
# place in its manual page and in the completion.
commands=$(coeval help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
[ -n "$commands" ] || { echo "coeval help lists no commands"; exit 1; }
[ "$(wc -l <<<"$commands")" -le 24 ] || { echo "coeval help lists more than 24 commands"; exit 1; }
parts=$(coeval help | awk '/^  [a-z]/ { command = $1 } /^    [a-z]/ { print command, $1 }')

status=0
missing() {
	echo "$1 is not in $2"
	status=1
}
while read -r command; do
	grep -q "^\.B $command\$" <(coeval man) || missing "$command" coeval.1
	# shellcheck disable=SC2086
	coeval man $command >page
	# shellcheck disable=SC2086
	coeval complete $command -- | cut -f 1 >completed
	# shellcheck disable=SC2086
	for option in $(coeval help $command | grep -o -- '^  *\(-., \)\?--[a-z-]*' | grep -o -- '--[a-z-]*'); do
		grep -qx -e "$option" completed || missing "$command $option" "the completion"
		escaped=${option//-/\\-}
		grep -qF -e "$escaped" page || missing "$command $option" "its page"
	done
done < <(printf '%s\n' "$commands" "$parts")

# What is written about options is about options that there are.
cd "$SRC" || exit
while read -r command; do
	# shellcheck disable=SC2086
	coeval complete $command -- | cut -f 1 >"$OLDPWD/completed"
	grep -hoE -e "coeval $command [^\`|&;#]*" README.md docs/*.md examples/README.md |
		grep -oE -e ' --[a-z][a-z-]*' | sort -u | while read -r option; do
		grep -qx -e "$option" "$OLDPWD/completed" || echo "coeval $command has no $option, which a document mentions"
	done
done < <(printf '%s\n' "$commands" "$parts" | grep -vx -e task -e flow -e control -e doctor -e session -e collect) >"$OLDPWD/untrue"
cat "$OLDPWD/untrue"
[ ! -s "$OLDPWD/untrue" ] || status=1
exit $status
