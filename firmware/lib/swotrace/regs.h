/* SPDX-License-Identifier: MIT */
/**
 * Registers that the library writes, and that the model in sim/devices/dwt.h has: addresses, and
 * what their bits are called. Source: ARMv7-M Architecture Reference Manual, C1.7 to C1.10;
 * CoreSight Components TRM for the trace port.
 */
#ifndef COEVAL_SWOTRACE_REGS_H
#define COEVAL_SWOTRACE_REGS_H

#define DEMCR 0xe000edfcu
#define DEMCR_TRCENA (1u << 24)

/* Data Watchpoint and Trace */
#define DWT_CTRL 0xe0001000u
#define DWT_CYCCNT 0xe0001004u
#define DWT_CPICNT 0xe0001008u /* EXCCNT, SLEEPCNT, LSUCNT, FOLDCNT follow */
#define DWT_COMP(n) (0xe0001020u + 16u * (n))
#define DWT_MASK(n) (0xe0001024u + 16u * (n))
#define DWT_FUNCTION(n) (0xe0001028u + 16u * (n))
#define DWT_LAR 0xe0001fb0u /* on a Cortex-M7; nothing on others */

#define DWT_CTRL_CYCCNTENA (1u << 0)
#define DWT_CTRL_POSTPRESET(n) ((uint32_t)(n) << 1)
#define DWT_CTRL_POSTINIT(n) ((uint32_t)(n) << 5)
#define DWT_CTRL_CYCTAP (1u << 9)
#define DWT_CTRL_SYNCTAP(n) ((uint32_t)(n) << 10)
#define DWT_CTRL_PCSAMPLENA (1u << 12)
#define DWT_CTRL_EXCTRCENA (1u << 16)
#define DWT_CTRL_EVENT(n) \
	(1u << (17 + (n))) /* in the order of an event counter packet: CPI 0 ... CYC 5 */
#define DWT_CTRL_EVENTS (0x3fu << 17)
#define DWT_CTRL_NOPRFCNT (1u << 24)
#define DWT_CTRL_NOCYCCNT (1u << 25)
#define DWT_CTRL_NOTRCPKT (1u << 27)
#define DWT_CTRL_NUMCOMP(ctrl) ((ctrl) >> 28)

#define DWT_FUNCTION_DISABLED 0u
#define DWT_FUNCTION_PC 1u    /* a packet with the instruction's address */
#define DWT_FUNCTION_VALUE 2u /* one with the value, read or written */
#define DWT_FUNCTION_PC_VALUE 3u
#define DWT_FUNCTION_EMITRANGE \
	(1u << 5) /* the address offset in place of the instruction's address */

/* Instrumentation Trace Macrocell */
#define ITM_STIM(n) (0xe0000000u + 4u * (n))
#define ITM_TER(n) (0xe0000e00u + 4u * (n))
#define ITM_TCR 0xe0000e80u
#define ITM_LAR 0xe0000fb0u
#define LAR_KEY 0xc5acce55u
#define ITM_TCR_ITMENA (1u << 0)
#define ITM_TCR_TSENA (1u << 1)
#define ITM_TCR_SYNCENA (1u << 2)
#define ITM_TCR_TXENA (1u << 3) /* the DWT's packets go out as well */
#define ITM_TCR_BUS(n) ((uint32_t)(n) << 16)
#define ITM_TCR_BUSY (1u << 23)

/* Trace Port Interface Unit */
#define TPIU_ACPR 0xe0040010u
#define TPIU_SPPR 0xe00400f0u
#define TPIU_FFCR 0xe0040304u
#define TPIU_LAR 0xe0040fb0u
#define TPIU_SPPR_MANCHESTER 1u
#define TPIU_SPPR_NRZ 2u
#define TPIU_FFCR_FORMAT (1u << 1) /* EnFCont: in frames */
#define TPIU_FFCR_TRIGGER (1u << 8)

#endif
