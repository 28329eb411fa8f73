/* SPDX-License-Identifier: MIT */
/* What is looked up in ELF files, beside what addr2line and nm say of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/files.h>
#include "capture_file.h"
#include "symbols/symbols.h"
#include "test_draw.h"
#include "test_scratch.h"

#define LINES_MAX 40000

static struct symbols *opened(const char *path)
{
	struct symbols *s;
	struct cvl_error err;

	if (symbols_open(&s, path, &err)) {
		if (err.code == CVL_E_ENV) {
			printf("SKIP symbols: %s\n", err.text);
			skip();
		}
		fail_msg("%s", err.text);
	}
	return s;
}

static bool there(const char *program)
{
	char command[200];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", program);
	return !system(command);
}

static void need(const char *program)
{
	if (!there(program)) {
		printf("SKIP symbols: %s is not installed; apt-get install %s\n",
		       strncmp(program, "arm", 3) ? program : "arm-none-eabi-gcc",
		       strncmp(program, "arm", 3) ? "binutils" : "gcc-arm-none-eabi");
		skip();
	}
}

/* The program of our own SWO capture (which 0) or of the real one (1); false: it is not here. */
static bool swo_elf(char *out, size_t size, unsigned which)
{
	return capture_file(out, size, which, "sigrok/stm32f105-swo/trace_example.elf");
}

/*
 * Functions that differ in kind: static, inlined, weak, an alias, one without debug information;
 * objects of all sizes.
 */
static const char source[] =
	"#include <stdint.h>\n"
	"volatile uint32_t word = 5; volatile uint8_t byte; const volatile uint16_t table[70] = { 1, 2 };\n"
	"static volatile char hidden[33];\n"
	"static inline __attribute__((always_inline)) int twice(int a) {\n"
	"	return hidden[a & 31] + 2 * a;\n"
	"}\n"
	"static __attribute__((noinline)) int inner(int a) {\n"
	"	for (int i = 0; i < a; i++)\n"
	"		word += twice(i);\n"
	"	return (int)word;\n"
	"}\n"
	"__attribute__((weak, noinline)) int soft(int a) { byte = (uint8_t)a; return inner(a) + table[a % 70]; }\n"
	"int alias(int) __attribute__((alias(\"soft\")));\n"
	"int main(void) {\n"
	"	hidden[3] = 1;\n"
	"	return soft(7) + alias(3);\n"
	"}\n";

static void compile(const char *compiler, const char *options, char *out, size_t size)
{
	char path[512], command[1500];
	struct cvl_error err;

	need(compiler);
	snprintf(path, sizeof(path), "%s/program.c", scratch);
	assert_int_equal(cvl_write_whole(path, source, sizeof(source) - 1, &err), 0);
	snprintf(out, size, "%s/%s.elf", scratch, compiler);
	snprintf(command, sizeof(command), "cd %s && %s -g -O1 %s program.c -o %s", scratch,
		 compiler, options, out);
	assert_int_equal(system(command), 0);
}

/* ---- against addr2line and nm ---- */

static FILE *ask(const char *format, ...)
{
	char command[2000];
	va_list ap;
	FILE *f;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	f = popen(command, "r");
	assert_non_null(f);
	return f;
}

/* Whether nm calls that place @name: of several names for one place either will do. */
static bool nm_knows(const char *nm, const char *path, const char *name, uint64_t address)
{
	char line[600], found[500], type;
	uint64_t at;
	bool known = false;
	FILE *f = ask("%s %s", nm, path);

	while (fgets(line, sizeof(line), f))
		known |= sscanf(line, "%" SCNx64 " %c %499s", &at, &type, found) == 3 &&
			 at == address && !strcmp(found, name);
	pclose(f);
	return known;
}

/*
 * Whether nm -S knows of a symbol that holds the address: addr2line takes the one before for what
 * lies between two.
 */
static bool nm_covers(const char *nm, const char *path, uint64_t address)
{
	char line[600], type;
	uint64_t at, size;
	bool covers = false;
	FILE *f = ask("%s -S %s", nm, path);

	while (fgets(line, sizeof(line), f))
		covers |= sscanf(line, "%" SCNx64 " %" SCNx64 " %c", &at, &size, &type) == 3 &&
			  at <= address && address - at < size;
	pclose(f);
	return covers;
}

/*
 * Every instruction address of .text: the function, the file and the line as addr2line says them.
 */
static void check_code(const char *prefix, const char *path, uint64_t step)
{
	char function[500], place[900], nm[60], line[400];
	uint64_t from = 0, size = 0, unnamed = 0, n = 0, lines = 0;
	struct symbols *s = opened(path);
	FILE *f = ask("%sobjdump -h %s", prefix, path);

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " %*u .text %" SCNx64 " %" SCNx64, &size, &from) == 2)
			break;
	pclose(f);
	assert_true(size > 0);
	snprintf(nm, sizeof(nm), "%snm", prefix);
	f = ask("i=%" PRIu64 "; while [ $i -lt %" PRIu64
		" ]; do printf '0x%%x\\n' $i; i=$((i + %" PRIu64 ")); done | %saddr2line -f -e %s",
		from, from + size, step, prefix, path);
	for (uint64_t at = from; at < from + size; at += step, n++) {
		uint64_t offset;
		const char *name = symbols_code(s, at, &offset), *file, *colon;
		unsigned number;

		assert_non_null(fgets(function, sizeof(function), f));
		assert_non_null(fgets(place, sizeof(place), f));
		function[strcspn(function, "\n")] = '\0';
		if (!name) {
			unnamed++;
			if (!symbols_data(s, at, NULL) && nm_covers(nm, path, at))
				fail_msg("%s: 0x%" PRIx64 " is in %s", path, at, function);
		} else if (strcmp(name, function) && !nm_knows(nm, path, name, at - offset) &&
			   !nm_knows(nm, path, name, (at - offset) | 1)) {
			fail_msg("%s: 0x%" PRIx64 " is in %s, not in %s", path, at, function, name);
		}
		colon = strrchr(place, ':');
		assert_non_null(colon);
		if (place[0] == '?' || colon[1] == '?' || colon[1] == '0') {
			continue;
		}
		lines++;
		if (!symbols_line(s, at, &file, &number))
			fail_msg("%s: 0x%" PRIx64 " has no line, but %s", path, at, place);
		assert_int_equal(number, strtoul(colon + 1, NULL, 10));
		assert_int_equal((size_t)(colon - place) >= strlen(file) &&
					 !strncmp(colon - strlen(file), file, strlen(file)),
				 1);
	}
	pclose(f);
	assert_true(unnamed < n / 4);
	assert_true(lines > 0);
	printf("%s: %" PRIu64 " addresses, %" PRIu64 " with a line\n", path, n, lines);
	symbols_close(s);
}

/*
 * Every function and object that nm gives a size, at its first and its last byte; the low bits lead
 * back to it.
 */
static unsigned check_symbols(const char *prefix, const char *path)
{
	char line[700], name[500], nm[60];
	struct symbols *s = opened(path);
	unsigned objects = 0, seen = 0;
	uint64_t at, size;
	char type;
	FILE *f;

	snprintf(nm, sizeof(nm), "%snm", prefix);
	f = ask("%s -S %s", nm, path);
	while (fgets(line, sizeof(line), f)) {
		bool data;
		const char *got;
		uint64_t offset = 99, whole = 0;

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %499s", &at, &size, &type, name) != 4)
			continue;
		data = strchr("bBdDrRgGsSV", type) != NULL;
		if (!data && !strchr("tTWi", type))
			continue;
		seen++;
		got = data ? symbols_data(s, at + size - 1, &offset) :
			     symbols_code(s, at + size - 1, &offset);
		got = got ? got : symbols_data(s, at + size - 1, &offset);
		if (!got)
			fail_msg("%s: nothing holds %s", path, name);
		if (strcmp(got, name) && !nm_knows(nm, path, got, at))
			fail_msg("%s: %s is called %s", path, name, got);
		assert_true(
			offset == (data ? size - 1 :
					  ((at + size - 1) & ~(uint64_t)1) - (at & ~(uint64_t)1)) ||
			offset == size - 1);
		if (data && symbols_data_low(s, (unsigned)(at & 0xffff), 16, &whole, &offset)) {
			assert_true(whole == at);
			assert_int_equal(offset, 0);
			objects++;
		}
	}
	pclose(f);
	assert_true(seen > 3);
	symbols_close(s);
	return objects;
}

static void host_program_reads_as_addr2line_and_nm_say(void **state)
{
	char path[512];

	(void)state;
	need("addr2line");
	compile("cc", "-no-pie", path, sizeof(path));
	check_code("", path, 1);
	assert_true(check_symbols("", path) > 0);
}

static void position_independent_program_reads_too(void **state)
{
	char path[512];

	(void)state;
	need("addr2line");
	compile("cc", "-pie -fPIE -gdwarf-4", path, sizeof(path));
	check_code("", path, 1);
}

static void cortex_program_reads_as_addr2line_and_nm_say(void **state)
{
	char path[512];

	(void)state;
	compile("arm-none-eabi-gcc",
		"-mcpu=cortex-m4 -mthumb --specs=nosys.specs -Wl,-Ttext=0x8000000 -ffunction-sections 2>/dev/null",
		path, sizeof(path));
	check_code("arm-none-eabi-", path, 2);
	assert_true(check_symbols("arm-none-eabi-", path) > 0);
}

static void traced_program_reads_as_addr2line_and_nm_say(void **state)
{
	char path[512];

	(void)state;
	need("arm-none-eabi-addr2line");
	for (unsigned k = 0; k < 2; k++)
		if (swo_elf(path, sizeof(path), k)) {
			check_code("arm-none-eabi-", path, 2);
			check_symbols("arm-none-eabi-", path);
		}
}

static void traced_program_names_its_handlers(void **state)
{
	char path[512];
	struct symbols *s;

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		if (!swo_elf(path, sizeof(path), k))
			continue;
		s = opened(path);
		assert_string_equal(symbols_exception(s, 0), "Thread");
		assert_string_equal(symbols_exception(s, 3), "HardFault");
		assert_string_equal(symbols_exception(s, 11), "SVCall");
		assert_string_equal(symbols_exception(s, 15), "SysTick");
		assert_string_equal(symbols_exception(s, 16 + 28), "TIM2_IRQ");
		assert_string_equal(symbols_exception(s, 300), "IRQ284");
		assert_string_equal(symbols_exception(s, 4000), "IRQ");
		symbols_close(s);
	}
}

static void addresses_of_another_program_are_told(void **state)
{
	char path[512];

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct symbols_check check = { 0 };
		struct cvl_error err;
		struct symbols *s;

		if (!swo_elf(path, sizeof(path), k))
			continue;
		s = opened(path);
		for (unsigned i = 0; i < 100; i++)
			symbols_check(&check, s, 0x080001e0 + i);
		assert_true(symbols_check_fits(&check, path, &err));
		symbols_check(&check, s, 0x0800a000);
		assert_true(symbols_check_fits(&check, path, &err));
		symbols_check(&check, s, 0x0800b000);
		assert_false(symbols_check_fits(&check, path, &err));
		assert_int_equal(err.code, CVL_E_MISMATCH);
		assert_non_null(strstr(err.text, "0x800a000"));
		assert_int_equal(check.outside, 2);
		symbols_close(s);
	}
}

/*
 * A function that is thrown away leaves its lines at address 0, where another one is: no line is
 * told rather than its.
 */
static void lines_of_what_was_thrown_away_are_not_told(void **state)
{
	static const char text[] = "volatile int w;\n"
				   "void dead(void);\n"
				   "void dead(void) { w = 1; w = 2;\n"
				   "	w = 3; w = 4; w = 5; w = 6; w = 7;\n"
				   "}\n"
				   "void _start(void) {\n"
				   "	w = 8;\n"
				   "	for (int i = 0; i < 1000; i++)\n"
				   "		w += i * w;\n"
				   "	w = 9;\n"
				   "}\n";
	char path[512], command[1500];
	unsigned told = 0, number;
	struct symbols *s;
	struct cvl_error err;
	const char *file;

	(void)state;
	need("arm-none-eabi-gcc");
	snprintf(path, sizeof(path), "%s/dead.c", scratch);
	assert_int_equal(cvl_write_whole(path, text, sizeof(text) - 1, &err), 0);
	snprintf(path, sizeof(path), "%s/dead.elf", scratch);
	snprintf(
		command, sizeof(command),
		"cd %s && arm-none-eabi-gcc -g -O1 -mcpu=cortex-m4 -mthumb -nostdlib -ffunction-sections "
		"-Wl,--gc-sections -Wl,-Ttext=0x10 dead.c -o dead.elf",
		scratch);
	assert_int_equal(system(command), 0);
	s = opened(path);
	for (uint64_t at = 0; at < 0x80; at += 2) {
		const char *name = symbols_code(s, at, NULL);

		assert_true(!name || !strcmp(name, "_start"));
		if (!symbols_line(s, at, &file, &number))
			continue;
		told++;
		assert_string_equal(file, "dead.c");
		assert_true(number >= 6);
	}
	assert_true(told > 0);
	symbols_close(s);
}

/* ---- files that are none, or not whole ---- */

static void expect_failure(const char *text, size_t n, enum cvl_code code)
{
	char path[512];
	struct symbols *s;
	struct cvl_error err = { 0 };

	snprintf(path, sizeof(path), "%s/bad.elf", scratch);
	assert_int_equal(cvl_write_whole(path, text, n, &err), 0);
	if (symbols_open(&s, path, &err) != (int)code)
		fail_msg("%zu bytes: %s", n, err.text);
	assert_int_equal(err.code, code);
	assert_null(s);
	assert_non_null(strstr(err.text, "bad.elf"));
}

static void what_is_wrong_with_a_file_is_told(void **state)
{
	char path[512], stripped[600], command[1300], *bytes;
	struct cvl_error err;
	struct symbols *s;
	size_t n;

	(void)state;
	compile("cc", "-no-pie", path, sizeof(path));
	symbols_close(opened(path));
	bytes = cvl_read_whole(path, 1 << 24, &n, &err);
	assert_non_null(bytes);
	expect_failure("", 0, CVL_E_MAGIC);
	expect_failure(":10000000", 9, CVL_E_MAGIC);
	expect_failure(bytes, 40, CVL_E_TRUNCATED);
	expect_failure(bytes, n / 2, CVL_E_TRUNCATED);
	expect_failure(bytes, n - 1, CVL_E_TRUNCATED);
	free(bytes);
	snprintf(stripped, sizeof(stripped), "%s.stripped", path);
	snprintf(command, sizeof(command), "strip -s -R .dynsym %s -o %s", path, stripped);
	need("strip");
	assert_int_equal(system(command), 0);
	if (!symbols_open(&s, stripped, &err))
		symbols_close(s); /* the dynamic symbols are left */
	else
		assert_int_equal(err.code, CVL_E_MISSING);
	snprintf(command, sizeof(command), "cd %s && cc -c program.c -o bad.elf", scratch);
	assert_int_equal(system(command), 0);
	snprintf(path, sizeof(path), "%s/bad.elf", scratch);
	assert_int_equal(symbols_open(&s, path, &err), CVL_E_UNSUPPORTED);
	snprintf(path, sizeof(path), "%s/absent.elf", scratch);
	assert_int_equal(symbols_open(&s, path, &err), CVL_E_IO);
}

/* Some bytes of a good file are others: it is read or refused, and look-ups stay within it. */
static void damaged_file_is_read_or_refused(void **state)
{
	struct draw d = draw_begin(1);
	char path[512], bad[512], *bytes, *changed;
	struct cvl_error err;
	size_t n;
	unsigned refused = 0;

	(void)state;
	compile("cc", "-no-pie", path, sizeof(path));
	symbols_close(opened(path));
	bytes = cvl_read_whole(path, 1 << 24, &n, &err);
	changed = malloc(n);
	assert_non_null(bytes);
	assert_non_null(changed);
	snprintf(bad, sizeof(bad), "%s/bad.elf", scratch);
	for (unsigned round = 0; round < 300; round++) {
		struct symbols *s;

		memcpy(changed, bytes, n);
		for (unsigned i = 0; i < 20; i++)
			changed[draw_below(&d, i % 2 ? n : 64)] ^= (char)draw_u64(&d);
		assert_int_equal(cvl_write_whole(bad, changed, n, &err), 0);
		if (symbols_open(&s, bad, &err)) {
			refused++;
			assert_non_null(strstr(err.text, "bad.elf"));
			continue;
		}
		for (unsigned i = 0; i < 2000; i++) {
			const char *name = symbols_code(s, draw_size(&d, 64), NULL), *file;
			uint64_t address;
			unsigned line;

			assert_true(!name || strlen(name) < n);
			name = symbols_data_low(s, (unsigned)draw_below(&d, 65536), 16, &address,
						NULL);
			assert_true(!name || symbols_data(s, address, NULL) == name);
			if (symbols_line(s, draw_size(&d, 64), &file, &line))
				assert_true(strlen(file) < n);
			assert_non_null(symbols_exception(s, i));
		}
		symbols_close(s);
	}
	assert_true(refused > 0);
	free(changed);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_program_reads_as_addr2line_and_nm_say),
		cmocka_unit_test(position_independent_program_reads_too),
		cmocka_unit_test(cortex_program_reads_as_addr2line_and_nm_say),
		cmocka_unit_test(traced_program_reads_as_addr2line_and_nm_say),
		cmocka_unit_test(traced_program_names_its_handlers),
		cmocka_unit_test(addresses_of_another_program_are_told),
		cmocka_unit_test(lines_of_what_was_thrown_away_are_not_told),
		cmocka_unit_test(what_is_wrong_with_a_file_is_told),
		cmocka_unit_test(damaged_file_is_read_or_refused),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
