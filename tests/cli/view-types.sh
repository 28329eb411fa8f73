# SPDX-License-Identifier: MIT
# room: view
# The modules of the page agree about what they pass each other.
need node
need npm
mkdir npm
(cd npm && npm install --no-save --no-audit --no-fund typescript@5) > npm.log 2>&1 || skip "npm cannot install typescript: $(tail -n 1 npm.log)"
node npm/node_modules/typescript/bin/tsc --noEmit --allowJs --checkJs --target es2022 --module es2022 --moduleResolution bundler \
	--lib es2023,dom,dom.iterable "$SRC"/src/view/page/*.js && echo "they do"
