# SPDX-License-Identifier: MIT
# room: sync; full
# Two virtual machines' kernel traces, tied by the TCP segments of one scp between them.
need_shared
coeval import -o s "$SHARED/ctf/synctraces/scp_src" "$SHARED/ctf/synctraces/scp_dest" > /dev/null
echo "import: $?"
coeval sync s --match lttng-tcp 2>/dev/null
echo "sync: $?"
coeval sync s --match lttng-tcp --estimator hull 2>/dev/null | sed -n '3,5p'
coeval sync s --match lttng-tcp --max-drift VM3=50 --wander 10 --reference VM3 2>/dev/null | sed -n '3,5p'
coeval sync s --match lttng-tcp >/dev/null 2>&1
coeval info s 2>/dev/null
coeval show s --from 1.2 --until 1.3 --bounds 2>/dev/null | head -n 5
coeval show s --from 16.33 --until 16.34 --select 'inet_sock_local_*' --bounds 2>/dev/null
coeval show s 2>/dev/null | wc -l
