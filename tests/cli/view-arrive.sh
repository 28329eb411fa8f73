# SPDX-License-Identifier: MIT
# room: view
# 200 clocks come one by one while the page is open, 20 of them after the others were synchronised.
source "$SRC/tests/view/start.bash"
need_browser
printf 'duration: 12s\nclocks: [{ name: n, count: 200 }]\nbeacons: [{ receiver: { normal_ns: 500 } }]\n' > world.yaml
coeval sim world.yaml -o all > log 2>&1 || cat log
python3 - <<'END'
import json

s = json.load(open("all/session.json"))
print(len(s["clocks"]), "clocks")
END
mkdir -p one
# each as a session of its own
python3 - <<'END'
import json, os, shutil

s = json.load(open("all/session.json"))
s.pop("sha256")
for k, c in enumerate(s["clocks"]):
    os.makedirs(f"one/{k:03}/traces")
    shutil.move("all/" + c["trace"], f"one/{k:03}/" + c["trace"])
    json.dump({**s, "clocks": [c]}, open(f"one/{k:03}/session.json", "w"))
END
coeval session join one/000 -o s > log 2>&1 || cat log
start_view s
timeout 200 node "$SRC/tests/view/arrive.mjs" "$(cat address)" "$PWD/npm" "$PWD/ended" &
page=$!
for k in $(seq -f %03.0f 1 179); do
	coeval session join one/$k -o s > log 2>&1 || cat log
done
coeval sync s > log 2>&1 || cat log
for k in $(seq -f %03.0f 180 199); do
	coeval session join one/$k -o s > log 2>&1 || cat log
done
coeval sync s > log 2>&1 || cat log
touch ended
wait $page
kill $viewer
