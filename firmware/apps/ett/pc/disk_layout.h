/* SPDX-License-Identifier: MIT */
/**
 * A disk that the kernel boots from: boot sector, command line, the kernel, then from here on the
 * image.
 */
#ifndef ETT_DISK_LAYOUT_H
#define ETT_DISK_LAYOUT_H

#define DISK_CONFIG_LBA 1
#define DISK_KERNEL_LBA 2
#define DISK_IMAGE_LBA 2048

#endif
