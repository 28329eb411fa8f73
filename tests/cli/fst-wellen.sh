# SPDX-License-Identifier: MIT
# room: export; full
# wellen, the reader of Surfer, finds the same in our FST and VCD files.
without_sanitizers
need cargo
mkdir -p reader/src
cat >reader/Cargo.toml <<'END'
[package]
name = "reader"
version = "0.0.0"
edition = "2021"
[dependencies]
wellen = "=0.20.5"
END
# Prints the changes of each variable, in the order of their names.
cat >reader/src/main.rs <<'END'
fn main() {
    let mut w = wellen::simple::read(std::env::args().nth(1).unwrap()).unwrap();
    let h = w.hierarchy();
    let mut vars: Vec<_> = h.iter_vars().map(|v| (v.full_name(h), v.signal_ref())).collect();
    let signals: Vec<_> = vars.iter().map(|v| v.1).collect();
    vars.sort_by(|a, b| a.0.cmp(&b.0));
    w.load_signals(&signals);
    for (name, signal) in vars {
        for (i, value) in w.get_signal(signal).unwrap().iter_changes() {
            let kind = if let wellen::SignalValue::String(_) = value { "text" } else { "value" };
            println!("{} {} {} {}", kind, name, w.time_table()[i as usize], value);
        }
    }
}
END
(cd reader && CARGO_TARGET_DIR=target cargo build --quiet) 2>log || skip "cargo cannot build wellen: $(head -n 1 log)"
coeval demo -o demo >/dev/null
python3 -c 'import random; random.seed(1); open("raw", "wb").write(random.randbytes(1500000))'
coeval import raw --format raw --channels 8 --rate 1MHz -o many >/dev/null
for s in demo/session many "$SRC/tests/data/sessions/simulated" "$SRC/examples/calls/sobel"; do
	coeval export "$s" --to vcd -o a.vcd 2>log
	coeval export "$s" --to fst -o a.fst 2>log
	reader/target/debug/reader a.vcd | grep -v ' Event$' >want
	reader/target/debug/reader a.fst >got
	grep '^value' got | grep -v ' bound_ns \|\.bound_ns \| NaN$' | cmp - want
	echo "$(basename "$s"): $(wc -l <want) changes, $(grep -c '\.bound_ns' got) bounds, $(grep -c '^text' got) texts"
done
