# SPDX-License-Identifier: MIT
# room: firmware; full
# The event timestamping kernel, started by GRUB from a CD.
[ "$(uname -m)" = x86_64 ] || skip "the kernel is built by gcc for x86-64, which this host's is not"
need qemu-system-x86_64
need python3
need gcc
need grub-mkrescue
need xorriso
[ -e /usr/lib/grub/i386-pc/multiboot.mod ] || skip "grub-pc-bin is not installed"
"$SRC/firmware/build" ett fw >build.log 2>&1 || { cat build.log; exit 1; }
mkdir -p cd/boot/grub
cp fw/ett.bin cd/boot/
cat >cd/boot/grub/grub.cfg <<'E'
set timeout=0
menuentry ett {
	multiboot /boot/ett.bin probes=1 selftest=200 dwell=1ms save=disk
}
E
grub-mkrescue -d /usr/lib/grub/i386-pc -o grub.iso cd >mkrescue.log 2>&1 || { cat mkrescue.log; exit 1; }
truncate -s 2M space.img
printf COEVAL-ETT-SPACE | dd of=space.img conv=notrunc status=none
timeout 200 python3 "$SRC/tests/ett_qemu.py" see=ready "line=room for" "line=told" key=ret "see=saved, blocks" -- \
	qemu-system-x86_64 -m 64 -smp 2 -parallel null -nic none -boot d -drive if=ide,index=2,media=cdrom,format=raw,file=grub.iso \
	-drive if=ide,index=0,format=raw,file=space.img 2>qemu.log || { cat qemu.log; exit 1; }
coeval import -o s space.img 2>&1 >import.log | grep -v "does not report an invariant"
coeval show s --json >s.json
python3 "$SRC/tests/ett_truth.py" s.json 2>truth.log || { cat truth.log; exit 1; }
coeval show s | grep -o 'ended_by = "[a-z ]*"'
