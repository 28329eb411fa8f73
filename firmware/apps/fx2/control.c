/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "chip.h"
#include "hardware.h"
#include "regs.h"
#include "usb.h"
#include "wire/fx2_wire.h"

/*
 * Hubs see that a device has left after 2.5 us and hosts ask them every quarter of a second (USB
 * 2.0, 7.1.7.3, 11.12).
 */
#define AWAY (FX2_TIMER_HZ * 3 / 10)

static bool want_data; /* the host is to send the data of its request */

void control_connect(void)
{
	uint32_t since;

	USBCS = USBCS_DISCON | USBCS_RENUM;
	since = chip_timer();
	while (chip_timer() - since < AWAY)
		;
	USBIRQ = 0xff;
	usb_reset();
	USBCS = USBCS_RENUM;
}

/*
 * Let the status stage end; a request that was refused is answered with STALL until the next SETUP
 * packet.
 */
static void finish(bool done)
{
	if (!done)
		EP0CS = EPCS_STALL;
	EP0CS = EP0CS_HSNAK | (done ? 0 : EPCS_STALL);
}

static void setup(void)
{
	/*
	 * Answers go to a buffer of our own first: a new SETUP packet may come at any time, and
	 * then nothing of this request may reach endpoint 0. Descriptors go the same way, not by
	 * SUDPTR, which wants them at even addresses.
	 */
	static uint8_t packet[8], data[USB_PACKET];
	enum usb_answer answer;
	uint8_t length, i;

	for (i = 0; i < sizeof(packet); i++)
		packet[i] = SETUPDAT[i];
	want_data = false;
	answer = usb_setup(packet, data, &length);
	if (USBIRQ & USBIRQ_SUDAV)
		return;
	switch (answer) {
	case USB_STALL: finish(false); break;
	case USB_DONE: finish(true); break;
	case USB_IN:
		for (i = 0; i < length; i++)
			EP0BUF[i] = data[i];
		EP0BCH = 0;
		SYNCDELAY();
		EP0BCL = length;
		finish(true);
		break;
	case USB_OUT:
		want_data = true;
		EP0BCL = 0; /* any value: ready for it */
		SYNCDELAY();
		break;
	}
}

static void received(void)
{
	static uint8_t data[USB_PACKET];
	uint8_t length = EP0BCL, i;

	/* Was it a new SETUP packet that ended the wait? */
	if (USBIRQ & USBIRQ_SUDAV)
		return;
	want_data = false;
	if (length > USB_PACKET)
		length = USB_PACKET;
	for (i = 0; i < length; i++)
		data[i] = EP0BUF[i];
	finish(usb_data(data, length));
}

void control_poll(void)
{
	/* Requests are cleared by writing them. */
	if (USBIRQ & USBIRQ_URES) {
		USBIRQ = USBIRQ_URES;
		want_data = false;
		usb_reset();
	}
	if (USBIRQ & USBIRQ_SUDAV) {
		USBIRQ = USBIRQ_SUDAV;
		setup();
	} else if (want_data && !(EP0CS & EPCS_BUSY)) {
		received();
	}
}
