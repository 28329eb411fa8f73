# SPDX-License-Identifier: MIT
# room: cli
# Names and texts of files move no cursor and begin no formula.
printf 'Time [s],=1+1,\033[2Jred,plain\n0,0,0,0\n1,1,1,1\n2,0,q,1\n' >cells.csv
printf '$timescale 1 us $end $scope module \033]0;title\a $end $var wire 1 ! \033[31ma $end $var string 1 s =txt $end $upscope $end $enddefinitions $end\n#0 0! s=\033[5m s\n#5 1! #6 x! #7 q\033[2J\n' >wires.vcd

# The characters of what comes out that do something to a terminal.
controls() {
	tr -d '\n\t\40-\176' | od -An -c
}

for file in cells.csv wires.vcd; do
	echo "--- $file"
	rm -rf s
	coeval import -o s "$file" 2>&1 | tee -a all
	coeval info s 2>&1 | grep -A2 'lines and' | tee -a all
	coeval show s 2>&1 | tee -a all
	coeval show s --json 2>&1 >>all
	coeval export s --to csv 2>&1 | grep -a = | head -n 4 | cat -v
	coeval check s <(echo '- never: nosuch:rise') 2>&1 | sed 's/^.*fd[^ ]*/FILE/' | tee -a all
done
controls <all
