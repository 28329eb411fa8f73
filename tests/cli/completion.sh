# SPDX-License-Identifier: MIT
# room: cli
# Completion: the scripts are well-formed, and a real bash completes commands, options, words, and what a session holds.
for shell in bash zsh fish; do
	coeval completion $shell >script.$shell
	! command -v $shell >/dev/null || $shell -n script.$shell || echo "$shell: not well-formed"
done
coeval completion tcsh
echo "-> $?"

printf 'abcdefgh' >bytes
coeval import -o s --format raw --channels 3 --names TX,RX,PPS --rate 1M --node n1 bytes >/dev/null
coeval import -o two "$SRC/examples/two-hosts" >/dev/null

cat >ask <<'END'
source script.bash
# As the shell does it: the words of the line up to the cursor, cut at colons and equals signs too.
ask() {
	COMP_LINE=$1 COMP_POINT=${#1}
	IFS=$'\n' read -r -d '' -a COMP_WORDS < <(sed -E 's/([:=]+)/ \1 /g; s/[[:blank:]]+/\n/g' <<<"$1")
	[[ $1 != *[[:blank:]] ]] || COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
	_coeval
	echo "$1 -> $(printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ')"
}
ask 'coeval im'
ask 'coeval show --bo'
ask 'coeval show -'
ask 'coeval export s --to f'
ask 'coeval export s --to=v'
ask 'coeval import --format '
ask 'coeval capture -d s'
ask 'coeval sync s --estimator '
ask 'coeval sync s --pulse '
ask 'coeval sync s --pulse P'
ask 'coeval power s --between TX:'
ask 'coeval power s --between TX:rise..n1.R'
ask 'coeval show s --node '
ask 'coeval show s --select e'
ask 'coeval sync two --reference '
ask 'coeval sync nothing --reference '
ask 'coeval task p'
ask 'coeval task plan --comp'
ask 'coeval control s '
ask 'coeval control act s '
ask 'coeval session '
ask 'coeval help t'
ask 'coeval help task '
ask 'coeval help import fl'
ask 'coeval check s/ by'
ask 'coeval import -o t'
ask 'coeval frobnicate '
END
bash ask

echo "--- others than bash ask the same"
coeval complete show --nod | tr '\t' '|'
coeval complete
echo "-> $?"
