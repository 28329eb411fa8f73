/* SPDX-License-Identifier: MIT */
/*
 * Work on one kind of memory with one kind of arithmetic (thesis section 10.1): operands in
 * registers, read from and written to RAM, or read from flash; add, multiply, divide; 32-bit
 * integers, and float and double in registers (section 10.4.4). Then a transfer by SPI (10.2), and
 * sleep (10.3).
 *
 * One iteration is UNROLL operations, so that the loop itself weighs little.
 */
#include "workload.h"

#define UNROLL 8

/*
 * The compiler must take @x, which it may keep in a register, for changed here. Even one that may
 * reorder real numbers then has to do one operation after the other, and may not divide once and
 * multiply then.
 */
#if !defined(__GNUC__)
#define OPAQUE(x) (x) = *(volatile uint32_t *)&(x)
#define OPAQUE_float(x) (x) = *(volatile float *)&(x)
#define OPAQUE_double(x) (x) = *(volatile double *)&(x)
#else
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))
#if defined(__ARM_FP) && __ARM_FP & 4
#define OPAQUE_float(x) __asm__ volatile("" : "+t"(x))
#elif defined(__SSE2__)
#define OPAQUE_float(x) __asm__ volatile("" : "+x"(x))
#else
#define OPAQUE_float(x) __asm__ volatile("" : "+m"(x))
#endif
#if defined(__ARM_FP) && __ARM_FP & 8
#define OPAQUE_double(x) __asm__ volatile("" : "+w"(x))
#elif defined(__ARM_FP)
#define OPAQUE_double(x) __asm__ volatile("" : "+r"(x)) /* two registers */
#elif defined(__SSE2__)
#define OPAQUE_double(x) __asm__ volatile("" : "+x"(x))
#else
#define OPAQUE_double(x) __asm__ volatile("" : "+m"(x))
#endif
#endif

/* Results, and operands that the compiler must not know beforehand. */
static volatile uint32_t sink_u32;
static volatile float sink_float;
static volatile double sink_double;
static volatile uint32_t ram[UNROLL] = { 3, 5, 7, 11, 13, 17, 19, 23 };
static const volatile uint32_t flash[UNROLL] = { 3, 5, 7, 11, 13, 17, 19, 23 };
static volatile float one_float = 1.0f;
static volatile double one_double = 1.0;

#define TIMES_8(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)

/* A dividend that shrank to nothing would make later divisions cheap: each begins with all bits. */
#define DO_ADD(x, y) ((x) + (y))
#define DO_MUL(x, y) ((x) * (y))
#define DO_DIV(x, y) (((x) | 0x80000000u) / (y))

#define REG_STEP(i)          \
	x = OPERATION(x, y); \
	OPAQUE(x);
#define RAM_STEP(i) ram[i] = OPERATION(ram[i], y) | 1u;
#define FLASH_STEP(i)               \
	x = OPERATION(x, flash[i]); \
	OPAQUE(x);

#define INTEGER_WORKLOAD(function, STEP)                                                     \
	static int function(const struct workload_io *io, uint32_t iterations, uint32_t arg) \
	{                                                                                    \
		uint32_t x = ram[0], y = flash[1];                                           \
                                                                                             \
		(void)io;                                                                    \
		(void)arg;                                                                   \
		OPAQUE(y);                                                                   \
		for (uint32_t n = 0; n < iterations; n++) {                                  \
			TIMES_8(STEP)                                                        \
		}                                                                            \
		sink_u32 = x + y;                                                            \
		return WORKLOAD_OK;                                                          \
	}

#define OPERATION DO_ADD
INTEGER_WORKLOAD(reg_add, REG_STEP)
INTEGER_WORKLOAD(ram_add, RAM_STEP)
INTEGER_WORKLOAD(flash_add, FLASH_STEP)
#undef OPERATION
#define OPERATION DO_MUL
INTEGER_WORKLOAD(reg_mul, REG_STEP)
INTEGER_WORKLOAD(ram_mul, RAM_STEP)
INTEGER_WORKLOAD(flash_mul, FLASH_STEP)
#undef OPERATION
#define OPERATION DO_DIV
INTEGER_WORKLOAD(reg_div, REG_STEP)
INTEGER_WORKLOAD(ram_div, RAM_STEP)
INTEGER_WORKLOAD(flash_div, FLASH_STEP)
#undef OPERATION

/*
 * Near 1, so that neither infinity nor denormal numbers, which some processors take longer for,
 * come up.
 */
#define REAL_STEP(i)         \
	x = OPERATION(x, y); \
	OPAQUE_REAL(x);      \
	OPAQUE_REAL(y);
#define DO_REAL_ADD(x, y) ((x) + (y))
#define DO_REAL_MUL(x, y) ((x) * (y))
#define DO_REAL_DIV(x, y) ((x) / (y))

#define REAL_WORKLOAD(function, type, operand)                                               \
	static int function(const struct workload_io *io, uint32_t iterations, uint32_t arg) \
	{                                                                                    \
		type x = one_##type, y = one_##type * (type)(operand);                       \
                                                                                             \
		(void)io;                                                                    \
		(void)arg;                                                                   \
		for (uint32_t n = 0; n < iterations; n++) {                                  \
			TIMES_8(REAL_STEP)                                                   \
		}                                                                            \
		sink_##type = x;                                                             \
		return WORKLOAD_OK;                                                          \
	}

#define OPAQUE_REAL OPAQUE_float
#define OPERATION DO_REAL_ADD
REAL_WORKLOAD(float_add, float, 0.5)
#undef OPERATION
#define OPERATION DO_REAL_MUL
REAL_WORKLOAD(float_mul, float, 1.0)
#undef OPERATION
#define OPERATION DO_REAL_DIV
REAL_WORKLOAD(float_div, float, 1.0)
#undef OPERATION
#undef OPAQUE_REAL
#define OPAQUE_REAL OPAQUE_double
#define OPERATION DO_REAL_ADD
REAL_WORKLOAD(double_add, double, 0.5)
#undef OPERATION
#define OPERATION DO_REAL_MUL
REAL_WORKLOAD(double_mul, double, 1.0)
#undef OPERATION
#define OPERATION DO_REAL_DIV
REAL_WORKLOAD(double_div, double, 1.0)
#undef OPERATION
#undef OPAQUE_REAL

/* As many bytes as the thesis sends in one transaction. */
#define SPI_BYTES 1024

static int spi(const struct workload_io *io, uint32_t iterations, uint32_t arg)
{
	static uint8_t out[SPI_BYTES], in[SPI_BYTES];

	if (!io || !io->spi)
		return WORKLOAD_CANNOT;
	for (unsigned i = 0; i < SPI_BYTES; i++)
		out[i] = (uint8_t)i;
	for (uint32_t n = 0; n < iterations; n++)
		if (io->spi(io->ctx, arg, out, in, SPI_BYTES))
			return WORKLOAD_CANNOT;
	return WORKLOAD_OK;
}

static int sleep(const struct workload_io *io, uint32_t iterations, uint32_t arg)
{
	if (!io || !io->sleep_ms)
		return WORKLOAD_CANNOT;
	for (uint32_t n = 0; n < iterations; n++)
		io->sleep_ms(io->ctx, arg);
	return WORKLOAD_OK;
}

const struct workload workloads_synthetic[] = {
	{ "reg-add", "adds 32-bit integers in registers", reg_add, 0, 0 },
	{ "reg-mul", "multiplies 32-bit integers in registers", reg_mul, 0, 0 },
	{ "reg-div", "divides 32-bit integers in registers", reg_div, 0, 0 },
	{ "ram-add", "adds 32-bit integers in RAM", ram_add, 0, 0 },
	{ "ram-mul", "multiplies 32-bit integers in RAM", ram_mul, 0, 0 },
	{ "ram-div", "divides 32-bit integers in RAM", ram_div, 0, 0 },
	{ "flash-add", "adds 32-bit integers read from flash", flash_add, 0, 0 },
	{ "flash-mul", "multiplies 32-bit integers read from flash", flash_mul, 0, 0 },
	{ "flash-div", "divides by 32-bit integers read from flash", flash_div, 0, 0 },
	{ "float-add", "adds floats in registers", float_add, 0, 0 },
	{ "float-mul", "multiplies floats in registers", float_mul, 0, 0 },
	{ "float-div", "divides floats in registers", float_div, 0, 0 },
	{ "double-add", "adds doubles in registers", double_add, 0, 0 },
	{ "double-mul", "multiplies doubles in registers", double_mul, 0, 0 },
	{ "double-div", "divides doubles in registers", double_div, 0, 0 },
	{ "spi", "transfers 1024 bytes by SPI", spi, "spi_hz", 1000000 },
	{ "sleep", "sleeps", sleep, "ms", 10 },
	{ 0, 0, 0, 0, 0 },
};
