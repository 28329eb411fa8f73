/* SPDX-License-Identifier: MIT */
/*
 * From the boot loader to long mode: the multiboot header and what it asks for (GNU GRUB, "Multiboot Specification" 0.6.96,
 * 3.1), page tables for the first 4 GiB, an interrupt table that ends in fault(), and main().
 */
#define MULTIBOOT_MAGIC 0x1badb002
#define MULTIBOOT_FLAGS 0x00010002 /* addresses are given here; memory information wanted */

	.section .start, "ax"
	.code32
	.globl _start
header:
	.long MULTIBOOT_MAGIC
	.long MULTIBOOT_FLAGS
	.long -(MULTIBOOT_MAGIC + MULTIBOOT_FLAGS)
	.long header
	.long header
	.long 0
	.long bss_end
	.long _start
/* The boot sector counts on this being 32 bytes behind the beginning. */
_start:
	cli
	cld
	movl	%eax, %ebp
	movl	$bss_begin, %edi
	movl	$bss_end, %ecx
	subl	%edi, %ecx
	shrl	$2, %ecx
	xorl	%eax, %eax
	rep stosl
	movl	$stack_top, %esp

	movl	%ebx, %esi
	movl	$0x80000000, %eax
	cpuid
	cmpl	$0x80000001, %eax
	jb	no_long_mode
	movl	$0x80000001, %eax
	cpuid
	btl	$29, %edx
	jnc	no_long_mode

	/* pages of 2 MiB, each at its own address */
	movl	$(pdpt + 3), pml4
	movl	$(record_pdpt + 3), pml4 + 8
	movl	$(pd + 3), pdpt
	movl	$(pd + 0x1003), pdpt + 8
	movl	$(pd + 0x2003), pdpt + 16
	movl	$(pd + 0x3003), pdpt + 24
	movl	$pd, %edi
	movl	$0x83, %eax
	movl	$2048, %ecx
1:	movl	%eax, (%edi)
	addl	$0x200000, %eax
	addl	$8, %edi
	loop	1b
	call	long_mode_on
	lgdt	gdt_pointer
	ljmp	$8, $start64

/* Also of the second processor. */
long_mode_on:
	movl	%cr4, %eax
	orl	$0x20, %eax
	movl	%eax, %cr4
	movl	$pml4, %eax
	movl	%eax, %cr3
	movl	$0xc0000080, %ecx
	rdmsr
	orl	$0x100, %eax
	wrmsr
	movl	%cr0, %eax
	orl	$0x80000001, %eax
	movl	%eax, %cr0
	ret

no_long_mode:
	movl	$no_long_mode_text, %esi
	movl	$0xb8000, %edi
	movb	$0x4f, %ah
1:	lodsb
	testb	%al, %al
	jz	2f
	stosw
	jmp	1b
2:	hlt
	jmp	2b

	.code64
start64:
	movl	$16, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	/* gates to the stubs, which are 16 bytes each */
	movq	$idt, %rdi
	movq	$stubs, %rax
	movl	$32, %ecx
1:	movw	%ax, (%rdi)
	movw	$8, 2(%rdi)
	movw	$0x8e00, 4(%rdi)
	movq	%rax, %rdx
	shrq	$16, %rdx
	movw	%dx, 6(%rdi)
	addq	$16, %rax
	addq	$16, %rdi
	loop	1b
	lidt	idt_pointer
	movl	%ebp, %edi
	/* %esi still is the boot information */
	movl	%esi, %esi
	call	main
3:	hlt
	jmp	3b

	.balign 16
stubs:
	.set	vector, 0
	.rept 32
	.balign 16
	.if (vector != 8) && (vector != 17) && ((vector < 10) || (vector > 14)) && (vector != 21) && (vector != 29) && (vector != 30)
	pushq	$0
	.endif
	movl	$vector, %edi
	jmp	stub
	.set	vector, vector + 1
	.endr
	.balign 16
stub:
	popq	%rsi
	popq	%rdx
	andq	$-16, %rsp
	call	fault
3:	hlt
	jmp	3b

	.section .rodata
no_long_mode_text:
	.asciz "Coeval: this processor has no 64-bit mode"
	.balign 8
gdt:
	.quad 0
	.quad 0x00af9a000000ffff /* code, 64 bits */
	.quad 0x00cf92000000ffff /* data */
	.quad 0x00cf9a000000ffff /* code, 32 bits, for the second processor's way here */
gdt_pointer:
	.word gdt_pointer - gdt - 1
	.long gdt
	.long 0
idt_pointer:
	.word 32 * 16 - 1
	.quad idt

/* ---- the second processor: copied to TRAMPOLINE, where it begins in real mode ---- */

#define TRAMPOLINE 0x8000
	.section .text
	.globl trampoline, trampoline_end
	.code16
trampoline:
	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	lgdtl	TRAMPOLINE + (near_gdt - trampoline)
	movl	%cr0, %eax
	orl	$1, %eax
	movl	%eax, %cr0
	ljmpl	$24, $second32
near_gdt:
	.word 31
	.long gdt
trampoline_end:

	.code32
second32:
	movl	$16, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	/* the first to come is taken; the others rest */
	movl	$1, %eax
	lock xaddl %eax, second_tickets
	testl	%eax, %eax
	jz	1f
2:	hlt
	jmp	2b
1:	movl	$second_stack_top, %esp
	call	long_mode_on
	ljmp	$8, $second64
	.code64
second64:
	lidt	idt_pointer
	call	second_main
3:	hlt
	jmp	3b

	.section .bss
	.balign 4096
	.globl pd, record_pdpt, second_tickets
pml4:	.skip 4096
pdpt:	.skip 4096
record_pdpt:
	.skip 4096
pd:	.skip 4 * 4096
idt:	.skip 32 * 16
second_tickets:
	.skip 16
	.skip 16384
stack_top:
	.skip 16384
second_stack_top:

	.section .note.GNU-stack, "", @progbits
