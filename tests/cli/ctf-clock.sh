# SPDX-License-Identifier: MIT
# room: sync
# CTF whose timestamps no clock is declared for, as Zephyr writes it; what nodes and clocks are called and picked by; absolute times.
trace() { # DIRECTORY ENV: three events at 10, 4000000000 and, after a wrap, 5
	mkdir -p "$1"
	cat >"$1/metadata" <<-END
		/* CTF 1.8 */
		typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
		typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
		trace { major = 1; minor = 8; byte_order = le; };
		env { $2 };
		${3-}
		stream { event.header := struct { uint32_t timestamp; uint8_t id; }; };
		event { name = a; id = 1; fields := struct { uint8_t v; }; };
	END
	printf '\12\0\0\0\1\1\0\50\153\356\1\2\5\0\0\0\1\3' >"$1/stream"
}

trace zephyr
echo "- no clock: nanoseconds, and it is said"
coeval show zephyr
coeval import -o s zephyr > /dev/null
coeval show s
echo "- a rate that is said"
coeval import -o slow --clock-rate 1M zephyr > /dev/null
coeval show slow
coeval import -o bad --clock-rate fast zephyr > /dev/null
echo "exit status $?"
echo "- a clock that is declared keeps its rate"
trace declared "" "clock { name = c; freq = 1000000; offset_s = 1600000000; };"
coeval import -o declared.s --clock-rate 1k declared > /dev/null
coeval show declared.s

echo "- nodes that are not there"
for verb in "show" "export --to csv" "power --power P" "precision" "calls"; do
	coeval $verb s --node nosuch
	echo "$verb: exit status $?"
done

echo "- absolute times"
coeval show declared.s --absolute
coeval show declared.s --absolute --json
coeval show s --absolute
echo "without a date: exit status $?"

echo "- processes of one host"
trace ust/pid/1 'domain = "ust"; hostname = "box"; procname = "app"; vpid = 17;'
trace ust/pid/2 'domain = "ust"; hostname = "box"; procname = "app"; vpid = 18;'
trace ust/pid/3 'domain = "ust"; hostname = "box"; procname = "db"; vpid = 19;'
coeval import -o ust.s --clock-rate 1G ust > /dev/null
coeval show ust.s --json | sed -n 's/.*"node":"\([^"]*\)","clock":"\([^"]*\)".*/\1 \2/p' | sort -u
coeval show ust.s --node app-18
