# SPDX-License-Identifier: MIT
# room: capture; full
# The FX2 driver, through the real libusb, on simulated analyzers that show a counter: bare ones are loaded, every sample arrives, and
# faults are reported and bounded.
need coeval-simbed
need setpriv
build=$(dirname "$(command -v coeval)")
capture=$build/tests/fx2_capture
[ -x "$capture" ] || skip "fx2_capture is not built"
# An instrumented build has its own library to put in front.
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0

# LJMP 3; SJMP to itself: enough for the model to call it a program.
printf ':03000000020003F8\n:0200030080FE7D\n:00000001FF\n' >firmware.ihx

bed() {
	echo "== $*"
	timeout 60 coeval-simbed "$@" 2>stderr
	local status=$?
	grep -v '^[0-9.]* MB/s$' stderr | sed 's/^/stderr: /'
	[ "$status" -eq 0 ] || echo "status $status"
}
# The same without naming where programs lie.
cap() {
	local before=()
	while [ "$1" != -- ]; do before+=("$1"); shift; done
	shift
	bed "${before[@]}" -- "$capture" -q -f firmware.ihx "$@" | sed "s|$capture|fx2_capture|"
}

cap --devices 2 -- -n 20000000
cap --devices 2 -- -l 16 -r 12000000 -n 10000000
cap --devices 2 -- -d 1-2 -n 1000000
cap -- -d 1-7
cap -- -r 7000000
cap --trouble overflow:100000:5000 --trouble overflow:100100:70000 --trouble overflow:700000:900 -- -n 2000000
cap --trouble count-off:1:100000 --trouble overflow:100000:300000 -- -l 16 -n 2000000
cap --speed 1 --replug 0.6:0.3 -- -l 16 -s 2
for trouble in stall babble silent spurious; do
	cap --speed 1 --trouble $trouble:3000000 -- -l 16 -s 2.5
done
for trouble in wrong-magic wrong-version short-answers no-start no-renumber; do
	cap --loaded --trouble $trouble -- -n 1000000
done
cap --trouble no-renumber -- -n 1000000
cap --loaded --devices 2 --trouble wrong-magic -- -n 1000000

# Too little memory: the kernel's parameter says so; or other programs have it.
cat >little.sh <<END
mkdir -p "\$UMOCKDEV_DIR/sys/module/usbcore/parameters"
echo 2 >"\$UMOCKDEV_DIR/sys/module/usbcore/parameters/usbfs_memory_mb"
$capture -q -r 24000000 -n 1000000
END
bed --loaded --usb-memory 2 -- bash little.sh
cap --loaded --usb-memory 6 -- -r 24000000 -n 1000000
cap --loaded --usb-memory 1 -- -r 24000000 -n 1000000

echo "== two programs, one analyzer; then the first is killed"
cat >two.sh <<END
$capture -q -s 30 >first & sleep 0.7
$capture -q -n 1000
coeval doctor devices
kill -9 \$!
wait \$! 2>/dev/null
$capture -q -n 1000000
END
bed --loaded -- bash two.sh 2>&1 | grep -v -e CRITICAL -e '^stderr: $' -e Killed

echo "== no permission"
cat >closed.sh <<END
cp "$build/coeval" "$capture" "\$UMOCKDEV_DIR" # readable by every user
chmod -R a+rwX "\$UMOCKDEV_DIR"
chmod 000 "\$UMOCKDEV_DIR"/dev/bus/usb/*/*
as=
[ "\$(id -u)" -ne 0 ] || as="setpriv --reuid 65534 --regid 65534 --clear-groups"
\$as "\$UMOCKDEV_DIR/coeval" doctor devices
\$as "\$UMOCKDEV_DIR/fx2_capture" -q
END
bed --loaded -- bash closed.sh

bed --devices 2 --loaded --radio -- coeval doctor devices
bed --devices 1 --loaded -- coeval doctor devices --json
