/* SPDX-License-Identifier: MIT */
#include "usb.h"

#include "bytes.h"
#include "capture.h"
#include "chip.h"
#include "descriptors.h"

/* bmRequestType */
enum {
	TO_DEVICE = 0x00,
	TO_INTERFACE = 0x01,
	TO_ENDPOINT = 0x02,
	IN = 0x80,
	VENDOR_OUT = 0x40,
	VENDOR_IN = 0xc0
};

/* bRequest (USB 2.0, table 9-4). SET_ADDRESS never gets here: the chip does it. */
enum {
	GET_STATUS = 0,
	CLEAR_FEATURE = 1,
	SET_FEATURE = 3,
	GET_DESCRIPTOR = 6,
	GET_CONFIGURATION = 8,
	SET_CONFIGURATION = 9,
	GET_INTERFACE = 10,
	SET_INTERFACE = 11
};

#define ENDPOINT_HALT 0

struct request {
	uint8_t type, number;
	uint16_t value, index, length;
};

static uint8_t configured; /* value of the configuration: 0 or 1 */

void usb_reset(void)
{
	configured = 0;
	capture_reset();
}

/*
 * USB 2.0, 9.1.1.5: a configuration or an interface that is set, be it the same, begins with DATA0
 * and no halt.
 */
static void begin_anew(void)
{
	capture_reset();
	chip_halt(false);
	chip_reset_toggle();
}

/* The length of an answer to a standard request to read; 0: refused. */
static uint8_t standard_in(const struct request *r, uint8_t *data)
{
	data[0] = 0;
	data[1] = 0;
	switch (r->number) {
	case GET_STATUS:
		if (r->type == (IN | TO_DEVICE))
			return 2; /* powered by the bus, no remote wake-up */
		if (r->type == (IN | TO_INTERFACE))
			return configured && r->index == 0 ? 2 : 0;
		if (r->index == FX2_ENDPOINT && configured) {
			data[0] = chip_halted();
			return 2;
		}
		return (r->index & 0x7f) == 0 ? 2 : 0;
	case GET_DESCRIPTOR:
		if (r->type != (IN | TO_DEVICE))
			return 0;
		return descriptor_get((uint8_t)(r->value >> 8), (uint8_t)r->value,
				      chip_high_speed(), data);
	case GET_CONFIGURATION: data[0] = configured; return r->type == (IN | TO_DEVICE);
	case GET_INTERFACE: return r->type == (IN | TO_INTERFACE) && configured && r->index == 0;
	}
	return 0;
}

static bool standard_out(const struct request *r)
{
	if (r->length != 0)
		return false;
	switch (r->number) {
	case SET_CONFIGURATION:
		if (r->type != TO_DEVICE || r->value > 1)
			return false;
		configured = (uint8_t)r->value;
		begin_anew();
		return true;
	case SET_INTERFACE:
		if (r->type != TO_INTERFACE || !configured || r->index != 0 || r->value != 0)
			return false;
		begin_anew();
		return true;
	case CLEAR_FEATURE:
	case SET_FEATURE:
		/* Of endpoint 0, too, a host may clear what cannot be set. */
		if (r->type != TO_ENDPOINT || r->value != ENDPOINT_HALT)
			return false;
		if ((r->index & 0x7f) == 0)
			return r->number == CLEAR_FEATURE;
		if (r->index != FX2_ENDPOINT || !configured)
			return false;
		chip_halt(r->number == SET_FEATURE);
		if (r->number == CLEAR_FEATURE)
			chip_reset_toggle();
		return true;
	}
	return false;
}

static uint8_t identify(struct fx2_identity *identity)
{
	put_u32(identity->magic, FX2_MAGIC);
	identity->version = FX2_VERSION;
	identity->lines = 16;
	put_u16(identity->revision, chip_revision());
	put_u32(identity->timer_hz, FX2_TIMER_HZ);
	return sizeof(*identity);
}

static uint8_t vendor_in(const struct request *r, uint8_t *data)
{
	switch (r->number) {
	case FX2_IDENTIFY: return identify((struct fx2_identity *)data);
	case FX2_STATUS:
		capture_status((struct fx2_status *)data);
		return sizeof(struct fx2_status);
	case FX2_LOSS:
		/* A record is removed as it is read: all of it, or none. */
		if (r->length < sizeof(struct fx2_loss) || !capture_loss((struct fx2_loss *)data))
			return 0;
		return sizeof(struct fx2_loss);
	}
	return 0;
}

enum usb_answer usb_setup(const uint8_t *setup, uint8_t *data, uint8_t *length)
{
	struct request r;
	uint8_t n;

	r.type = setup[0];
	r.number = setup[1];
	r.value = get_u16(setup + 2);
	r.index = get_u16(setup + 4);
	r.length = get_u16(setup + 6);

	*length = 0;
	if (r.type == VENDOR_OUT) {
		if (r.number == FX2_START && r.length == sizeof(struct fx2_settings) && configured)
			return USB_OUT;
		if (r.number == FX2_STOP && r.length == 0 && configured) {
			capture_stop();
			return USB_DONE;
		}
		return USB_STALL;
	}
	if (!(r.type & IN))
		return r.type <= TO_ENDPOINT && standard_out(&r) ? USB_DONE : USB_STALL;

	if (r.type == VENDOR_IN)
		n = vendor_in(&r, data);
	else if (r.type <= (IN | TO_ENDPOINT))
		n = standard_in(&r, data);
	else
		n = 0;
	if (n == 0)
		return USB_STALL;
	*length = n < r.length ? n : (uint8_t)r.length;
	return USB_IN;
}

bool usb_data(const uint8_t *data, uint8_t length)
{
	/* The only request with data. Their number was promised, but only counts as it came. */
	return configured && length == sizeof(struct fx2_settings) &&
	       capture_start((const struct fx2_settings *)data);
}
