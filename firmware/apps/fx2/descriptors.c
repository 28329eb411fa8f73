/* SPDX-License-Identifier: MIT */
#include "descriptors.h"

#include "wire/fx2_wire.h"

enum type {
	DEVICE = 1,
	CONFIGURATION = 2,
	STRING = 3,
	INTERFACE = 4,
	ENDPOINT = 5,
	DEVICE_QUALIFIER = 6,
	OTHER_SPEED_CONFIGURATION = 7
};

#define LOW(x) (uint8_t)((x)&0xff)
#define HIGH(x) (uint8_t)((x) >> 8)

/* Full speed allows bulk packets of at most 64 bytes (USB 2.0, 5.8.3). */
#define PACKET_FULL_SPEED 64

#define DEVICE_SIZE 18
#define QUALIFIER_SIZE 10
#define CONFIGURATION_SIZE (9 + 9 + 7)
#define PACKET_AT (CONFIGURATION_SIZE - 3) /* wMaxPacketSize */

static const uint8_t device[DEVICE_SIZE] = {
	DEVICE_SIZE,
	DEVICE,
	0x00,
	0x02, /* USB 2.0 */
	0,
	0,
	0,  /* class: see the interface */
	64, /* packets of endpoint 0 */
	LOW(FX2_VENDOR),
	HIGH(FX2_VENDOR),
	LOW(FX2_PRODUCT),
	HIGH(FX2_PRODUCT),
	0,
	FX2_VERSION,
	1,
	2,
	0, /* strings: manufacturer, product, no serial number */
	1  /* configurations */
};

static const uint8_t qualifier[QUALIFIER_SIZE] = {
	QUALIFIER_SIZE, DEVICE_QUALIFIER, 0x00, 0x02, 0, 0, 0, 64, 1, 0
};

static const uint8_t configuration[CONFIGURATION_SIZE] = { 9,
							   CONFIGURATION,
							   CONFIGURATION_SIZE,
							   0,
							   1, /* interfaces */
							   1,
							   0, /* its value, no name */
							   0x80,
							   50, /* powered by the bus: 100 mA */
							   9,
							   INTERFACE,
							   0,
							   0,
							   1,
							   0xff,
							   0xff,
							   0xff,
							   0,
							   7,
							   ENDPOINT,
							   FX2_ENDPOINT,
							   2 /* bulk */,
							   LOW(FX2_PACKET),
							   HIGH(FX2_PACKET),
							   0 };

static const uint8_t language[] = { 4, STRING, 0x09, 0x04 }; /* English (US) */

static const char *const names[] = { "Coeval", "Coeval logic analyzer" };

static uint8_t copy(uint8_t *to, const uint8_t *from, uint8_t n)
{
	uint8_t i;

	for (i = 0; i < n; i++)
		to[i] = from[i];
	return n;
}

static uint8_t get_string(uint8_t index, uint8_t *bytes)
{
	const char *name;
	uint8_t n = 2;

	if (index == 0)
		return copy(bytes, language, sizeof(language));
	if (index > sizeof(names) / sizeof(names[0]))
		return 0;
	for (name = names[index - 1]; *name; name++) {
		bytes[n++] = (uint8_t)*name; /* UTF-16 */
		bytes[n++] = 0;
	}
	bytes[0] = n;
	bytes[1] = STRING;
	return n;
}

uint8_t descriptor_get(uint8_t type, uint8_t index, bool high_speed, uint8_t *bytes)
{
	if (type == STRING)
		return get_string(index, bytes);
	if (index != 0)
		return 0;
	switch (type) {
	case DEVICE: return copy(bytes, device, DEVICE_SIZE);
	case DEVICE_QUALIFIER: return copy(bytes, qualifier, QUALIFIER_SIZE);
	case OTHER_SPEED_CONFIGURATION: high_speed = !high_speed; break;
	case CONFIGURATION: break;
	default: return 0;
	}
	copy(bytes, configuration, CONFIGURATION_SIZE);
	bytes[1] = type;
	if (!high_speed) {
		bytes[PACKET_AT] = LOW(PACKET_FULL_SPEED);
		bytes[PACKET_AT + 1] = HIGH(PACKET_FULL_SPEED);
	}
	return CONFIGURATION_SIZE;
}
