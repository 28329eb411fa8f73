#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The version of CMakeLists.txt is that of the Debian packages and of the changelog.
set -euo pipefail

debian=$(sed -n '1s/^coeval (\(.*\)) .*/\1/p' "$SRC/debian/changelog")
changes=$(sed -n 's/^## \([0-9.]*\).*/\1/p' "$SRC/CHANGELOG.md" | head -n 1)
[ "$debian" = "$VERSION" ] && [ "$changes" = "$VERSION" ] ||
	{ echo "CMakeLists.txt: $VERSION, debian/changelog: $debian, CHANGELOG.md: $changes"; exit 1; }
