/* SPDX-License-Identifier: MIT */
/*
 * A drain of whatever a memory holds, which changes while it looks: the first byte says how often.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/drain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tracer_packet *packet;
	struct tracer_drain d;
	uint8_t *memory, *out;
	unsigned changes;

	if (size < 1 || !(memory = malloc(size)))
		return 0;
	changes = data[0];
	memcpy(memory, data + 1, size - 1);
	if (tracer_drain_open(&d, memory, size - 1) == TRACER_PACKET) {
		out = malloc(d.packet_bits / 8);
		for (unsigned i = 0; out && i < 64; i++) {
			enum tracer_drained got =
				i % 2 ? tracer_drain_read(&d, out) : tracer_drain_look(&d, &packet);

			if (got == TRACER_NONE || got == TRACER_RESET)
				break;
			if (changes && sizeof(*d.ring) <= size - 1)
				d.ring->head += d.packet_bits / changes;
			if (i % 2 == 0 && packet->content_size <= d.packet_bits)
				tracer_drain_pass(&d);
		}
		free(out);
	}
	free(memory);
	return 0;
}
