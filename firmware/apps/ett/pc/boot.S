/* SPDX-License-Identifier: MIT */
/*
 * Boot sector: reads what it is told (sector 1) and the kernel (from sector 2 on) by the BIOS, asks it for the memory map, and starts the
 * kernel as a multiboot loader does. Interrupts 13h (AH=42h) and 15h (EAX=E820h).
 */
#include "disk_layout.h"

#define INFO 0x5000
#define MAP 0x6000
#define CONFIG 0x7e00
#define LOAD 0x10000
#define KERNEL 0x100000
#define SMAP 0x534d4150

	.code16
	.globl _start
_start:
	jmp	1f
	.org	3
	.ascii	"COEVALET"
	.org	12
	.long	DISK_IMAGE_LBA
sectors:
	.word	KERNEL_SECTORS
1:	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	movw	$0x7c00, %sp
	ljmp	$0, $2f
2:	sti
	cld
	/* sector 1, then the kernel */
	movw	$packet, %si
	call	read
	movw	$0, packet + 4
	movw	$(LOAD >> 4), packet + 6
	movw	sectors, %cx
3:	incl	packet + 8
	call	read
	addw	$32, packet + 6
	decw	%cx
	jnz	3b

	xorl	%ebx, %ebx
	movw	$(MAP + 4), %di
4:	movl	$0xe820, %eax
	movl	$20, %ecx
	movl	$SMAP, %edx
	int	$0x15
	jc	5f
	cmpl	$SMAP, %eax
	jne	5f
	movl	$20, -4(%di)
	addw	$24, %di
	testl	%ebx, %ebx
	jz	5f
	cmpw	$(CONFIG - 0x400), %di
	jb	4b
5:	subw	$(MAP + 4), %di
	movzwl	%di, %eax
	movl	$((1 << 2) | (1 << 6)), INFO
	movl	$CONFIG, INFO + 16
	movl	%eax, INFO + 44
	movl	$MAP, INFO + 48

	cli
	inb	$0x92, %al
	orb	$2, %al
	andb	$0xfe, %al
	outb	%al, $0x92
	lgdt	gdt_pointer
	movl	%cr0, %eax
	orl	$1, %eax
	movl	%eax, %cr0
	ljmp	$8, $start32

read:
	movb	$0x42, %ah
	pusha
	int	$0x13
	popa
	jnc	6f
	movw	$text, %si
7:	lodsb
	testb	%al, %al
8:	jz	8b
	movb	$0x0e, %ah
	movw	$7, %bx
	int	$0x10
	jmp	7b
6:	ret

	.code32
start32:
	movw	$16, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	movl	$LOAD, %esi
	movl	$KERNEL, %edi
	movzwl	sectors, %ecx
	shll	$7, %ecx
	rep movsl
	movl	$0x2badb002, %eax
	movl	$INFO, %ebx
	movl	$(KERNEL + 32), %ecx
	jmp	*%ecx

text:	.asciz	"Coeval: the disk cannot be read"
	.balign 4
packet:
	.byte	16, 0
	.word	1, CONFIG, 0
	.quad	1
	.balign 8
gdt:
	.quad 0
	.quad 0x00cf9a000000ffff
	.quad 0x00cf92000000ffff
gdt_pointer:
	.word gdt_pointer - gdt - 1
	.long gdt

	.org	510
	.word	0xaa55
