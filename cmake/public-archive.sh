#!/bin/sh
# SPDX-License-Identifier: MIT
# public-archive.sh OUT.a NAMES ARCHIVE.a [INSIDE.a]
#
# A static library of what ARCHIVE.a holds, of which only names like NAMES (a glob) can be seen: one object, everything else in it local.
# What it needs of INSIDE.a that is hidden there comes into it; what is public stays undefined, for the library that has it.
# READELF, LD, OBJCOPY and AR name the tools. Sections of the link-time optimiser are left out: they would bring the hidden names back.
set -eu

out=$1 names=$2 archive=$3 inside=${4-}
dir=$out.dir
rm -rf "$dir"
mkdir "$dir"
"$OBJCOPY" --wildcard --remove-section '.gnu.lto_*' --remove-section '.gnu.debuglto_*' "$archive" "$dir/whole.a"
if [ "$inside" ]; then
	"$READELF" -Ws "$inside" | awk '$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" { print $8 }' | sort -u >"$dir/public"
	"$OBJCOPY" --wildcard --remove-section '.gnu.lto_*' --remove-section '.gnu.debuglto_*' --localize-symbols "$dir/public" "$inside" "$dir/inside.a"
	inside=$dir/inside.a
fi
"$LD" -r -o "$dir/all.o" --whole-archive "$dir/whole.a" --no-whole-archive $inside
"$OBJCOPY" --localize-hidden --wildcard --keep-global-symbol "$names" "$dir/all.o" "$dir/$(basename "$out" .a).o"
rm -f "$out"
"$AR" rcsD "$out" "$dir/$(basename "$out" .a).o"
rm -rf "$dir"
