# SPDX-License-Identifier: MIT
# room: store
# A session that cannot be written: results go to the user's cache, and are found there

as_user()
{
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	else
		"$@"
	fi
}

coeval sim "$SRC"/examples/worlds/nominal.yaml -o s --duration 60s >/dev/null
chmod -R a+rX s
chmod -R a-w s
mkdir cache
chmod a+rwx cache
chmod a+x . ..
export XDG_CACHE_HOME=$PWD/cache
as_user test -r s/session.json || skip "another user cannot read $PWD"
as_user coeval --version >/dev/null || skip "another user cannot run coeval"

as_user coeval sync s 2>&1 >sync.out | sed "s|$PWD/||; s|/[0-9a-f-]*$|/UUID|"
ls s
ls cache/coeval/* | sed 's/^cache.coeval.[0-9a-f-]*:/UUID:/'
as_user coeval show s --from 30 --until 30.0001 --bounds | wc -l
as_user coeval info s | grep -c good
as_user coeval sync --follow s 2>&1 >follow.out | sed "s|$PWD/||; s|/[0-9a-f-]*$|/UUID|"
[ "$(wc -l <follow.out)" -gt 100 ] && echo followed
chmod -R u+w s
