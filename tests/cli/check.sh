# SPDX-License-Identifier: MIT
# room: analysis
# Rules against the sessions of examples/: verdicts, exit statuses, JSON, JUnit; invalid rules.
need python3
ln -s "$SRC/examples" examples

run() {
	echo "\$ $*"
	"$@" 2>&1
	echo "-> $?"
}

coeval import -o s examples/two-hosts >/dev/null
run coeval check s examples/checks/two-hosts.yaml --nominal
coeval sync s --match examples/rules/radio.yaml >/dev/null
run coeval check s examples/checks/two-hosts.yaml --junit j.xml
python3 - <<'PY'
import xml.etree.ElementTree as ET
suite = ET.parse("j.xml").getroot()[0]
print(suite.attrib)
for case in suite:
    print(case.attrib["name"], [(c.tag, c.attrib["message"]) for c in case])
PY
coeval check s examples/checks/two-hosts.yaml --json 2>/dev/null | python3 -c '
import json, sys
for c in json.load(sys.stdin)["checks"]:
    print(c["name"], c["verdict"], c["cases"], c["why"], (c["first_violated"] + [None])[0])'

cat >open.yaml <<'YAML'
- { name: short, after: alpha.radio_send, then: beta.radio_receive, within: 100us }
- { name: silence, after: 'radio_send{len=1000}', never: radio_receive, within: 1ms }
YAML
run coeval check s open.yaml --until 0.2
run coeval check s open.yaml --until 0.2 --strict

# what XML cannot hold
printf -- '- { name: "\\uFFFE\\uFFFF & <a> \\"é\\"", never: "radio_send{len>1000}" }\n' >odd.yaml
cp odd.yaml "$(printf 'odd\377\001.yaml')"
coeval check s odd?*.yaml --junit j.xml >/dev/null
python3 -c '
import xml.etree.ElementTree as ET
print(ascii([c.attrib for c in ET.parse("j.xml").getroot()[0]]))'

bad() {
	echo "$1" >bad.yaml
	run coeval check s bad.yaml
}
bad "- { after: alfa.radio_send, then: beta.radio_receive, within: 1ms }"
bad "- { never: alpha.radio_sent }"
bad "- { state: alpha.LED:high, at most: 1ms }"
bad "- { after: radio_send, then: other.radio_receive, within: 0 }"
bad "- { after: radio_send, then: beta.task_switch }"
bad "- ["
bad ""
bad "- { never: alpha.radio_send, while: radio_send:high }"
run coeval check s open.yaml --from 2 --until 1
run coeval check s missing.yaml
run coeval check s

# the old spellings say what is new, and find the same
cat >old.yaml <<'YAML'
- { name: old, never: radio_send where len > 64 }
- { name: new, never: "radio_send{len>64}" }
YAML
run coeval check s old.yaml
