// SPDX-License-Identifier: MIT
// Prints a Parquet file, by hyparquet, or an Arrow stream, by apache-arrow, as JSON: an array for each column.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.cwd() + "/npm/");
const path = process.argv[2];
const columns = {};
const plain = (v) => {
	if (typeof v === "bigint" || (typeof v === "number" && !Number.isFinite(v)))
		return [String(v)];
	return v === undefined ? null : v;
};

if (path.endsWith(".parquet")) {
	const { parquetReadObjects, parquetMetadata, parquetSchema } = await import(pathToFileURL(require.resolve("hyparquet")));
	const { compressors } = await import(pathToFileURL(require.resolve("hyparquet-compressors")));
	const bytes = readFileSync(path);
	const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);

	for (const c of parquetSchema(parquetMetadata(file)).children)
		columns[c.element.name] = [];
	for (const row of await parquetReadObjects({ file, compressors }))
		for (const name in columns)
			columns[name].push(plain(row[name]));
} else {
	const { tableFromIPC } = require("apache-arrow");
	const table = tableFromIPC(readFileSync(path));

	for (const field of table.schema.fields) {
		const vector = table.getChild(field.name);

		columns[field.name] = Array.from({ length: table.numRows }, (_, i) => plain(vector.get(i)));
	}
}
process.stdout.write(JSON.stringify(columns));
