/* SPDX-License-Identifier: MIT */
/**
 * Requests to the device: those of USB 2.0, chapter 9, that the chip does not answer itself, and
 * ours (fx2_wire.h).
 */
#ifndef FX2_USB_H
#define FX2_USB_H

#include <stdbool.h>
#include <stdint.h>

#define USB_PACKET 64 /* of endpoint 0 */

enum usb_answer {
	USB_STALL, /* refused */
	USB_DONE,  /* done; no data */
	USB_IN,    /* done; @length bytes for the host */
	USB_OUT    /* the host has data first: usb_data() */
};

/** After a reset of the bus: no configuration. */
void usb_reset(void);

/**
 * Answer a request.
 *
 * @setup  the 8 bytes of its SETUP packet
 * @data   room for USB_PACKET bytes
 * @length how many of them are the answer, never more than the host asked for
 */
enum usb_answer usb_setup(const uint8_t *setup, uint8_t *data, uint8_t *length);

/** The data of the request that usb_setup() answered with USB_OUT. False: refused. */
bool usb_data(const uint8_t *data, uint8_t length);

#endif
