# SPDX-License-Identifier: MIT
# room: analysis
# The page and its figures are well-formed, hold what they should and nothing from elsewhere; impossible requests are reported.
need python3

cat >world.yaml <<'END'
name: small
duration: 4m
clocks:
  - { name: node, count: 3, start: 300ms, oscillator: { offset_sd_ppm: 40, walk_ppb: 5 } }
  - { name: deaf, oscillator: { offset_ppm: 3 } }
beacons:
  - { heard_by: '*', receiver: { normal_ns: 500 }, missed: 0.02 }
pulses:
  - { line: PPS, clocks: 'node*', jitter: { normal_ns: 300 } }
messages:
  - { from: 'node[12]', to: 'node[12]', per_second: 5, latency_min_ns: 50000, latency_exp_ns: 20000 }
faults:
  - { kind: outage, who: deaf }
  - { kind: phase_step, who: node3, at: 2m, amount: 20000000 }
END

# How many estimators there are is their own affair.
run() {
	echo "\$ $*"
	"$@" 2>&1 | sed -E 's/[0-9]+ estimators/N estimators/'
	echo "-> ${PIPESTATUS[0]}"
}

# Well-formed; no number that is none; nothing that would be fetched; no script.
check() {
	python3 - "$@" <<'END'
import re
import sys
import xml.etree.ElementTree as tree

for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    if path.endswith(".html"):  # what tells how well clocks are tied, in the page of coeval view
        text = text[text.index("<style>\n#report"):text.index("</section>") + 10]
        text = '<div xmlns="http://www.w3.org/1999/xhtml">' + text + "</div>"
        open(path + ".xml", "w", encoding="utf-8").write(text)
    root = tree.fromstring(text)
    if re.search(r"\b(nan|inf)\b", text, re.I):
        print(path, "has nan or inf in it")
    if re.search(r"https?:", re.sub(r'xmlns="[^"]*"', "", text)):
        print(path, "points elsewhere")
    figures = [e for e in root.iter("{http://www.w3.org/2000/svg}svg")]
    for e in (e for figure in figures for e in figure.iter()):
        for key, value in e.attrib.items():
            if key in "d x y cx cy r width height" and not re.fullmatch(r"[-MLVHZ0-9.% ]+", value):
                print(path, "has a strange coordinate", key, value[:40])
    if any(e.tag.endswith("script") or e.tag.endswith("image") for e in root.iter()):
        print(path, "has a script or an image")
    print(path, len(figures), "figures")
END
	if command -v xmllint >/dev/null; then
		xmllint --noout --nonet "${@//.html/.html.xml}"
	else
		echo "SKIP report: xmllint is not installed (apt-get install libxml2-utils): only python3 has read the files" >&3
	fi
	rm -f ./*.html.xml
}

words() {
	sed -n '/<section id="report">/,$p' "$1" | sed -e 's/<svg.*//' | grep -o '<h[12]>[^<]*' | sed 's/<[^>]*>/  /'
}

coeval sim world.yaml -o s >/dev/null
run coeval report s -o s.html --svg figures
check s.html figures/*.svg
words s.html
grep -o 'simulated; the true times are known' s.html
grep -o 'none: the session has not been synchronised' s.html
grep -o '1 unsynchronised' s.html
coeval report s -o s.html --json | python3 -c '
import json, sys
j = json.load(sys.stdin)
print(sorted(j), j["output"], j["clocks"], j["figures"], j["estimator"])
best = [e for e in j["estimators"] if e["estimator"] == j["estimator"]][0]
print(best["tied"], best["pairs"]["n"] > 1000, best["pairs"]["coverage"] > 0.99)
print([c["verdict"] for c in j["by_clock"]])'
grep -c '<td>deaf</td><td class="unsynchronised">' s.html
for estimator in line kalman grace; do grep -c "\">$estimator</td><td class=\"number\">3 / 4" s.html; done
ls
[ -e s/sync.json ] && echo "the session was changed"

# As it was synchronised: pulses, by that estimator.
coeval sync s --pulse PPS:rise:1s --estimator line --max-drift 120 >/dev/null
run coeval report s -o line.html
check line.html
grep -o 'rising edges of PPS every 1 s' line.html
grep -o 'up to 120 ppm' line.html
grep -o 'Clocks by line' line.html
run coeval report s -o other.html --estimator kalman
grep -o 'kalman, not the one in sync.json' other.html

# By messages, without the truth.
rm s/truth.json
run coeval report s -o messages.html --match "$SRC/examples/rules/radio.yaml" --estimator interval >messages.txt
sed "s|$SRC|SRC|" messages.txt
check messages.html
words messages.html
grep -o 'simulated; the true times are not available' messages.html

# Names are only names.
python3 - <<'END'
import json

for name in ("s/session.json", "s/sync.json"):
    s = json.load(open(name))
    del s["sha256"]
    text = json.dumps(s).replace('"node2"', json.dumps("<b>&\"'é \x01 https:"))
    open(name, "w").write(text)
END
run coeval report s -o names.html
sed -i 's/ https:/ /g' names.html
check names.html
grep -o "&#60;b&#62;&#38;&#34;'é [^<]*</td><td class=\"[a-z]*\"" names.html | head -n 1
grep -c '<b>&' names.html

# Many clocks: some of them are drawn.
printf 'duration: 1m\nclocks: [{ name: n, count: 30 }]\nbeacons: [{ receiver: { normal_ns: 500 } }]\n' >many.yaml
coeval sim many.yaml -o many >/dev/null
run coeval report many
check report.html
grep -o 'The 24 worst of 30 clocks' report.html | sort | uniq -c | sed 's/^ *//'

# So little that not every estimator has enough.
coeval sim many.yaml -o short --duration 3s >/dev/null
run coeval report short -o short.html
check short.html

printf 'duration: 5s\nclocks: [{ name: n, count: 2 }]\n' >nothing.yaml
coeval sim nothing.yaml -o nothing >/dev/null
run coeval report nothing -o nothing.html
run coeval report s -o nothing.html --estimator hull
run coeval report s -o nothing.html --estimator magic
run coeval report absent
run coeval report
run coeval report s -o no/where.html
[ ! -e nothing.html ] || echo "something was written"
ls ./*.new 2>/dev/null
true
